package command

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// notSupported is the SQLSTATE of what Postgres could do and is not to be had here.
const notSupported = "0A000"

func unsupported(message, hint string) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.StatementNotAllowed, SQLState: notSupported, Message: message, Hint: hint, Offset: -1}
}

// refused gives the refusal of a statement of a session that deserves one of its own; nil
// for all others.
func refused(n *pg.Node) *refusal.Refusal {
	switch n.GetNode().(type) {
	case *pg.Node_PrepareStmt, *pg.Node_ExecuteStmt:
		return unsupported("PREPARE and EXECUTE are not supported", "use the protocol's prepared statements, as drivers do by themselves")
	case *pg.Node_ListenStmt, *pg.Node_NotifyStmt:
		return unsupported("LISTEN and NOTIFY are not supported", tree.HintChannel)
	case *pg.Node_ConstraintsSetStmt:
		return unsupported("SET CONSTRAINTS is not supported", tree.HintDeferred)
	case *pg.Node_LockStmt:
		return unsupported("LOCK is not supported", "lock rows with SELECT … FOR UPDATE")
	}
	return nil
}

// unavailable gives the refusal of a form of a command that is not to be had; nil for others.
func unavailable(n *pg.Node) *refusal.Refusal {
	switch s := n.GetNode().(type) {
	case *pg.Node_TransactionStmt:
		switch s.TransactionStmt.Kind {
		case pg.TransactionStmtKind_TRANS_STMT_PREPARE, pg.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED:
			return unsupported("two-phase commit is not supported", "end the transaction with COMMIT or ROLLBACK")
		}
	case *pg.Node_VariableSetStmt:
		return unsettable(s.VariableSetStmt)
	case *pg.Node_DeclareCursorStmt:
		if s.DeclareCursorStmt.Options&cursorHold != 0 {
			return unsupported("a cursor WITH HOLD is not supported", "use it inside a transaction, without WITH HOLD")
		}
	case *pg.Node_CopyStmt:
		return uncopied(s.CopyStmt)
	}
	return nil
}

// unsettable refuses what is no setting of a session's own.
func unsettable(s *pg.VariableSetStmt) *refusal.Refusal {
	name := lower(s.Name)
	reset := s.Kind == pg.VariableSetKind_VAR_RESET || s.Kind == pg.VariableSetKind_VAR_SET_DEFAULT
	switch {
	case s.Kind == pg.VariableSetKind_VAR_SET_CURRENT:
		return unsupported("SET … FROM CURRENT is not supported", "write the value")
	case s.Kind == pg.VariableSetKind_VAR_SET_MULTI && s.Name == "TRANSACTION SNAPSHOT":
		return unsupported("SET TRANSACTION SNAPSHOT is not supported", "read everything in one REPEATABLE READ transaction")
	case (name == "role" || name == "session_authorization") && !reset:
		return unsupported("the role can't be changed", "connect as another user")
	}
	return nil
}

// uncopied refuses what COPY would do to files, and what it can't do row by row.
func uncopied(s *pg.CopyStmt) *refusal.Refusal {
	switch {
	case s.IsProgram || s.Filename != "":
		return &refusal.Refusal{Code: refusal.StatementNotAllowed, SQLState: "42501", Message: "COPY to or from a file or program is not allowed",
			Hint: "use COPY … TO STDOUT or FROM STDIN; psql's \\copy does so", Offset: -1}
	case s.WhereClause != nil:
		return unsupported("COPY … FROM with WHERE is not supported", "leave out the rows that are not wanted, or delete them afterwards")
	}
	return nil
}

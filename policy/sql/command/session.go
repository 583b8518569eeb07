package command

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

func (r *directions) transaction(s *pg.TransactionStmt) {
	r.command(map[pg.TransactionStmtKind]Verb{
		pg.TransactionStmtKind_TRANS_STMT_BEGIN: Begin, pg.TransactionStmtKind_TRANS_STMT_START: Begin,
		pg.TransactionStmtKind_TRANS_STMT_COMMIT: Commit, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK: Rollback,
		pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT: Savepoint, pg.TransactionStmtKind_TRANS_STMT_RELEASE: Release,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO: RollbackTo,
	}[s.Kind], s.SavepointName)
	r.out.Chain = s.Chain
	r.modes(s.Options)
}

// modes reads the modes of a transaction; of one that is given twice the last counts.
func (r *directions) modes(list []*pg.Node) {
	for _, n := range list {
		e := n.GetDefElem()
		value := e.GetArg().GetAConst()
		on := value.GetIval().GetIval() != 0
		switch e.GetDefname() {
		case "transaction_isolation":
			r.out.Modes.Isolation = value.GetSval().GetSval()
		case "transaction_read_only":
			r.out.Modes.ReadOnly = &on
		case "transaction_deferrable":
			r.out.Modes.Deferrable = &on
		default:
			r.fail(refusal.Unsupported(int(e.GetLocation()), "this transaction mode is not supported"))
		}
	}
	switch r.out.Modes.Isolation {
	case "", "read uncommitted", "read committed", "repeatable read", "serializable":
	default:
		r.fail(refusal.Unsupported(-1, "this isolation level is not supported"))
	}
}

func (r *directions) set(s *pg.VariableSetStmt) {
	name := lower(s.Name)
	switch s.Kind {
	case pg.VariableSetKind_VAR_RESET:
		r.command(Reset, name)
	case pg.VariableSetKind_VAR_RESET_ALL:
		r.command(Reset, "")
	case pg.VariableSetKind_VAR_SET_MULTI:
		r.command(SetTransaction, "")
		if s.Name != "TRANSACTION" {
			r.command(SetSession, "")
		}
		r.modes(s.Args)
	default:
		r.command(Set, name)
		r.out.Reset = s.Kind == pg.VariableSetKind_VAR_SET_DEFAULT
		r.out.Value = r.value(name, s.Args)
	}
	r.out.Local = s.IsLocal && r.out.Verb != SetTransaction // which is local anyway
}

// value gives a setting's values as the one text that Postgres makes of them.
func (r *directions) value(name string, args []*pg.Node) string {
	if len(args) > 1 && !isList(name) {
		r.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "22023", Message: "SET " + name + " takes only one argument", Offset: tree.Offset(args[1])})
	}
	words := make([]string, len(args))
	for i, n := range args {
		switch c := n.GetAConst(); {
		case c.GetSval() != nil:
			if words[i] = c.GetSval().Sval; name == "search_path" {
				words[i] = quoteIdentifier(words[i])
			}
		case c.GetIval() != nil:
			words[i] = strconv.Itoa(int(c.GetIval().Ival))
		case c.GetFval() != nil:
			words[i] = c.GetFval().Fval
		default:
			r.fail(unsupported("a setting's value must be a plain constant", "write a word, a number or a quoted text"))
		}
	}
	return strings.Join(words, ", ")
}

// isList tells the settings that take several values, of those that somebody may set.
func isList(name string) bool { return name == "search_path" || name == "datestyle" }

// quoteIdentifier is Postgres' quote_identifier: it quotes where that is needed.
func quoteIdentifier(name string) string {
	plain := name != "" && !lex.IsDigit(name[0]) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	if plain {
		scanned, err := pg.Scan(name)
		plain = err == nil && len(scanned.Tokens) == 1 &&
			(scanned.Tokens[0].KeywordKind == pg.KeywordKind_NO_KEYWORD || scanned.Tokens[0].KeywordKind == pg.KeywordKind_UNRESERVED_KEYWORD)
	}
	if plain {
		return name
	}
	return lex.Quote(name)
}

// lower folds ASCII's letters, as Postgres compares the names of settings.
func lower(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

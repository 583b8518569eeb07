package upstream

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// logged is what the log may know of an error that Postgres reported about a statement:
// no message, because those quote values. A lack has more (failure_lacking_log.go).
type logged struct{ state, routine string }

func (l logged) Error() string { return "SQLSTATE " + l.state + " in " + l.routine }

// forLog keeps the whole error where it is about the database, and only its code where
// it is about a statement.
func forLog(pg *pgconn.PgError) error {
	if aboutServer(pg.Code) && pg.Where == "" { // what has a context may be a function's, and say anything
		return pg
	}
	return logged{pg.Code, pg.Routine}
}

// aboutServer tells whether an SQLSTATE speaks of the database rather than a statement.
func aboutServer(state string) bool {
	switch sqlClass(state) {
	case "08", "53", "57", "58", "F0", "XX":
		return true
	default:
		return false
	}
}

func sqlClass(state string) string { return state[:min(2, len(state))] }

// explainServer turns what Postgres reported into what the caller is told. Of its fields
// only SQLSTATE, the mapped position, constraint and column names and, cleaned, the
// primary message pass; DETAIL prints keys and rows, CONTEXT and the internal query print
// other texts, HINT names objects.
func (f *failure) explainServer(st *statement, pg *pgconn.PgError) *proxy.Error {
	schemaMoved := !f.executed && st.schemaMoved(pg)
	switch {
	case f.reshaped(), schemaMoved && pg.Code == undefinedColumn && len(st.shapes) > 0 && st.callerPosition(pg) == 0: // it stands for a * of the caller's
		return altered(moved(pg))
	case f.stale() && pg.Code == featureNotThere:
		return changedResult()
	}
	if e := f.explainState(st, pg); e != nil {
		return e
	}
	e := &proxy.Error{
		Code: policy.QueryFailed, Message: st.message(pg, f.at), SQLState: pg.Code,
		Position: st.callerPosition(pg), Hint: hint(pg.Message), Cause: forLog(pg),
	}
	if schemaMoved {
		e.Cause = moved(pg)
	}
	return e
}

// hints are what a caller can do about errors whose text does not tell it, by a part of that.
var hints = map[string]string{
	"could not determine data type of ":  "cast the placeholder to its type, as in CAST(? AS text) or $1::text",
	"matching the ON CONFLICT":           "ON CONFLICT must name all columns of a unique key, the column of the servers among them",
	"must appear in the GROUP BY clause": "GROUP BY must name each column that is selected, or all columns of the primary key, the column of the servers among them",
}

func hint(message string) string {
	for part, hint := range hints {
		if strings.Contains(message, part) {
			return hint
		}
	}
	return ""
}

// explainState answers for the SQLSTATEs that have a code or a text of their own; nil for
// all others.
func (f *failure) explainState(st *statement, pg *pgconn.PgError) *proxy.Error {
	if i := boundParameter(pg); i > 0 && i <= len(st.params) {
		e := st.invalidArgument(st.params[i-1], st.message(pg, f.at))
		e.SQLState = pg.Code
		return e
	}
	if e := st.lacking(pg); e != nil {
		return e
	}
	switch pg.Code {
	case protocolViolation:
		if pg.SeverityUnlocalized == "ERROR" {
			return nil // it is about the caller's values or formats, and the connection lives
		}
	case queryCanceled:
		return f.cancelled(st, pg)
	case readOnly:
		if f.readOnly {
			return errorFrom(policy.QueryFailed, pg, "the transaction is read only", false)
		}
		if !f.writesElsewhere() {
			return nil
		}
		return unavailable("the database takes no writes at the moment", forLog(pg))
	case lockNotAvailable:
		return errorFrom(policy.QueryFailed, pg, "a row or table is locked by another statement; try again", true)
	case insufficientRights:
		if inside(pg) {
			return nil // a function may have raised it for reasons of its own
		}
		return errorFrom(policy.QueryFailed, pg, "the database role of the service may not do that", false)
	}
	switch sqlClass(pg.Code) {
	case "23":
		e := constraint(pg)
		if st.holds(pg.TableName) {
			e.Table = pg.TableName
		}
		return e
	case "40":
		return conflict(pg)
	case "53":
		return f.orUncertain(st, overloaded("the database has too little of a resource", "have the statement read, sort and give back fewer rows", forLog(pg)), "the database ran out of a resource")
	case "08", "57":
		return f.connectionLost(st, "the database ended the connection")
	default:
		return nil
	}
}

func errorFrom(code proxy.Code, pg *pgconn.PgError, message string, retryable bool) *proxy.Error {
	return &proxy.Error{Code: code, Message: message, SQLState: pg.Code, Retryable: retryable, Cause: forLog(pg)}
}

// slowHint is what a caller can do about a statement that took too long.
const slowHint = "make it read fewer rows, or use an indexed column in its condition"

// cancelled tells the statement's time limit from an operator who cancelled it earlier.
func (f *failure) cancelled(st *statement, pg *pgconn.PgError) *proxy.Error {
	limit := st.limits.StatementTimeout
	if f.elapsed < limit {
		return errorFrom(policy.QueryFailed, pg, "the statement was cancelled by the database's operator", true)
	}
	e := errorFrom(proxy.StatementTimeout, pg, fmt.Sprintf("the statement took longer than %s and was cancelled", limit), false)
	e.Hint = slowHint
	return e
}

// constraint words class 23. Names of constraints and columns are the schema's, never
// data; Postgres' own message also names tables, among them some that no policy shows.
func constraint(pg *pgconn.PgError) *proxy.Error {
	name := strconv.Quote(pg.ConstraintName)
	var e *proxy.Error
	switch pg.Code {
	case "23505":
		e = errorFrom(proxy.ConstraintViolation, pg, "a row with the same key exists; the unique constraint is "+name, false)
	case "23503", "23001":
		e = errorFrom(proxy.ConstraintViolation, pg, "a row that is referred to is missing, or is still referred to; the foreign key is "+name, false)
	case "23P01":
		e = errorFrom(proxy.ConstraintViolation, pg, "the row conflicts with another one; the exclusion constraint is "+name, false)
	case notNull:
		e = errorFrom(policy.QueryFailed, pg, "the column "+strconv.Quote(pg.ColumnName)+" must not be null", false)
	case checkViolated:
		e = errorFrom(policy.QueryFailed, pg, "the row violates the check constraint "+name, false)
	default:
		e = errorFrom(policy.QueryFailed, pg, "the row violates a constraint", false)
	}
	e.Constraint = pg.ConstraintName
	return e
}

func conflict(pg *pgconn.PgError) *proxy.Error {
	what := "the statement conflicted with another one; repeat it"
	if pg.Code == deadlock {
		what = "the statement and another one waited for each other; repeat it"
	}
	return errorFrom(proxy.SerializationFailure, pg, what, true)
}

// boundText is the context that Postgres gives an error while it reads a parameter. It is
// the last line; what precedes it may quote the value.
var boundText = regexp.MustCompile(`(?:^|\n)(?:unnamed portal|portal ".*") parameter \$(\d{1,5})(?: = .*)?$`)

// boundParameter is the number of the parameter whose value Postgres could not read, from
// 1; 0 when the error is another.
func boundParameter(pg *pgconn.PgError) int {
	if sqlClass(pg.Code) != "22" {
		return 0
	}
	m := boundText.FindStringSubmatch(pg.Where)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // five digits at most
	return n
}

func (st *statement) callerPosition(pg *pgconn.PgError) int {
	if pg.Position <= 0 || strings.TrimSpace(st.text()) == "" {
		return 0
	}
	return st.position(int(pg.Position))
}

// moved is the cause that asks for a fresh look at the schema.
func moved(pg *pgconn.PgError) error {
	return fmt.Errorf("%w: %w", proxy.ErrSchemaChanged, logged{pg.Code, pg.Routine})
}

// schemaMoved tells whether an error suggests that the plan was made for another schema:
// a table, column or schema is gone that the policy resolved, or something no longer fits
// where the text is not the caller's. At the caller's own text any other name that does
// not exist (a collation, a text search configuration) is the caller's mistake, and so is
// what has no place in the text at all: that is found when functions run.
func (st *statement) schemaMoved(pg *pgconn.PgError) bool {
	if pg.Position <= 0 {
		return false
	}
	switch pg.Code {
	case "42P01", undefinedColumn, "3F000":
		return true
	}
	return sqlClass(pg.Code) == "42" && st.callerPosition(pg) == 0
}

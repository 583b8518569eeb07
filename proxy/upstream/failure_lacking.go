package upstream

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// This file is about statements that fail because the statement role lacks a right, or because what Postgres runs
// for a table (a trigger, a default) names something that does not exist. Only the operator can mend that. Objects that
// the policy does not list are none of the caller's business: it gets the table that its statement names, and the log
// has the rest.

// lacks says, by the SQLSTATE of such an error, what the caller gets.
var lacks = map[string]struct{ what, hint string }{
	insufficientRights: {"the database role that it runs as lacks a permission", "ask the operator to grant what it needs; the service's log has the error"},
	"42P01":            {missing, mending}, // a table
	"42703":            {missing, mending}, // a column
	"42883":            {missing, mending}, // a function or an operator
	"3F000":            {missing, mending}, // a schema
}

const (
	missing = "it names something that does not exist, or that is not on its search path"
	mending = "ask the operator to correct it; the service's log has the error"
)

// Functions in Postgres' source, as its errors name them.
const (
	raiseRoutine  = "exec_stmt_raise"      // RAISE of PL/pgSQL
	policyRoutine = "ExecWithCheckOptions" // a row-level security policy refuses a new row
)

// rightsRoutines raise errors about a right. The messages hold the names of objects that exist, and nothing else.
var rightsRoutines = []string{"aclcheck_error", "nextval_internal", "currval_oid", "do_setval"}

// lacking answers for a statement that fails for what the database lacks; nil for every other error, such as one
// that a function raises with an SQLSTATE of these.
func (st *statement) lacking(pg *pgconn.PgError) *proxy.Error {
	lack, known := lacks[pg.Code]
	own := !inside(pg)
	switch {
	case !known, pg.Routine == "", pg.Routine == raiseRoutine: // without a routine the error was cut off
		return nil
	case pg.Code == insufficientRights && pg.Routine == policyRoutine:
		return errorFrom(policy.QueryFailed, pg, "a "+rowPolicy+st.behind()+" does not admit the row", false)
	case own && !slices.Contains(rightsRoutines, pg.Routine):
		return nil
	}
	e := errorFrom(policy.QueryFailed, pg, "a trigger, default, function or "+rowPolicy+st.behind()+" failed: "+lack.what, false)
	e.Hint, e.Cause = lack.hint, lackOf(pg)
	if message := st.ungranted(pg); own && message != "" {
		e.Message, e.Hint = message, "ask the operator for the GRANT; the service's log has the error"
	}
	return e
}

const rowPolicy = "row-level security policy "

// behind says where the statement came to something that Postgres runs by itself. An error does not say whose
// trigger or default it was: with several tables, or none as in a COMMIT, none is named.
func (st *statement) behind() string {
	switch len(st.tables()) {
	case 0:
		return "in the database"
	case 1:
		return "behind table " + st.tables()[0].Name
	default:
		return "behind a table of the statement"
	}
}

// deniedName is the error of a right on a table or schema.
var deniedName = regexp.MustCompile(`^permission denied for (?:foreign )?(table|schema) (.+)$`)

// ungranted tells that the role lacks a right on one of the statement's tables; "" where it is about something else.
func (st *statement) ungranted(pg *pgconn.PgError) string {
	m := deniedName.FindStringSubmatch(pg.Message)
	if m == nil {
		return ""
	}
	for _, t := range st.tables() {
		switch {
		case m[1] == "table" && m[2] == t.Name && st.kind == "":
			return "the service's database role lacks a grant on table " + t.Name + " that the statement needs"
		case m[1] == "table" && m[2] == t.Name:
			return "the service's database role lacks a grant on table " + t.Name + " that this " + strings.ToUpper(string(st.kind)) + " needs"
		case m[1] == "schema" && m[2] == t.Schema:
			return "the service's database role lacks the USAGE of the schema of table " + t.Name
		}
	}
	return ""
}

// inside tells whether an error comes from within something that Postgres runs for the statement. The values of
// the statement's own parameters are no such context (log_parameter_max_length_on_error).
func inside(pg *pgconn.PgError) bool {
	return pg.Where != "" && !strings.HasPrefix(pg.Where, "unnamed portal ") && !strings.HasPrefix(pg.Where, `portal "`)
}

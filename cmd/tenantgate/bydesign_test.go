package main

import (
	"encoding/json"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"regexp"
	"slices"
	"strings"
)

// What the listener answers otherwise than REST does, and why. The list is closed: any other
// difference is a defect.
var (
	sessionCommand = regexp.MustCompile(`(?i)^\s*(begin|start|commit|end|abort|rollback|savepoint|release|set|reset|show|discard|deallocate|unlisten|declare|fetch|move|close|copy)\b`)
	plannedFailure = regexp.MustCompile(`\bON 1 / `)
	ofSession      = regexp.MustCompile(`(?i)\b(current_user|session_user|current_catalog|current_setting|pg_backend_pid)\b`)
)

// difference is one entry of the list.
type difference struct {
	reason string
	is     func(d differing) bool
}

// differing is a case whose answers differ.
type differing struct {
	fronts
	way        front
	sent       sent
	rest, wire fronted
}

var designedDifferences = []difference{
	{"a command of a session is no statement on rows: REST has no session", func(d differing) bool {
		return d.rest.code == "statement_not_allowed" && sessionCommand.MatchString(d.sent.sql)
	}},
	{"a Query message may hold several statements, each decided alone", func(d differing) bool {
		return d.way == viaSimple && d.rest.code == "multiple_statements"
	}},
	{"semicolons may follow a statement, and ? is no placeholder, in Postgres' own dialect", func(d differing) bool {
		_, ends := lex.Native(d.sent.sql, lex.Guard{})
		return d.rest.code == "multiple_statements" && ends == nil || d.rest.code == "mixed_placeholders" && d.wire.state == "42601"
	}},
	{"nothing but comments and semicolons is Postgres' empty query", func(d differing) bool {
		return (d.rest.code == "empty_query" || d.rest.code == "multiple_statements") && d.wire.code == "" && len(d.wire.rows)+d.wire.affected == 0
	}},
	{"what drivers ask of the session when they start is answered without the database", func(d differing) bool {
		return d.rest.code == "function_not_allowed" && ofSession.MatchString(d.sent.sql)
	}},
	{"the bound of a request's body is not that of a message", func(d differing) bool {
		return d.rest.code == "body_too_large"
	}},
	{"the placeholder of a scope condition takes a value of a Postgres client", func(d differing) bool {
		return d.rest.code == "argument_count" && d.scopeGiven()
	}},
	{"with scope mode inject a condition on the scope column is like any other: another's id finds no rows", func(d differing) bool {
		return d.policy == "inject" && d.wire.code == "" && d.scopeGiven()
	}},
	{"Postgres is asked about a statement when it is prepared, before its arguments are counted", func(d differing) bool {
		return d.rest.code == "argument_count" && d.wire.code == "query_failed" && strings.HasPrefix(d.wire.state, "42")
	}},
	{"a condition that fails is evaluated or not as the plan has it, and the constants of a Query are parameters of another plan", func(d differing) bool {
		return d.way == viaSimple && d.rest.code == "query_failed" && d.wire.code == "" && plannedFailure.MatchString(d.sent.sql)
	}},
	{"$n of Postgres' dialect takes an argument for each number below n", func(d differing) bool {
		return d.wire.code == "argument_count" && strings.Contains(d.sent.sql, "$")
	}},
}

// scopeGiven tells whether an argument is for a placeholder of a scope condition, and another
// server's id.
func (d differing) scopeGiven() bool {
	_, all := forWire(d.sent.sql, d.id, wireArgs(d.sent.args), d.rest.code == "")
	foreign := func(a any) bool {
		var id string
		return json.Unmarshal(a.(json.RawMessage), &id) == nil && id != d.id
	}
	return len(all) > 0 && strings.ContainsAny(d.sent.sql, "?$") && (strings.Contains(d.sent.sql, "server_id") || strings.Contains(d.sent.sql, "tenant")) && slices.ContainsFunc(d.sent.args, foreign)
}

// byDesign gives the reason for which the listener answers otherwise than REST does; "" for
// none.
func byDesign(d differing) string {
	for _, known := range designedDifferences {
		if known.is(d) {
			return known.reason
		}
	}
	return ""
}

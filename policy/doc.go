// Package policy decides whether one SQL text may run for one server, and how.
//
// It is pure: text and plain data go in, a Decision comes out. Neither this package nor
// those below it use a context, clock, file, network, log or goroutine, so a decision
// can be replayed, tested and fuzzed. It depends on the text's dialect and on
// the declared types of parameters, and not on the front end that sent the text.
//
// # Steps of a decision (decide.go)
//
//  1. guard: length, NUL, UTF-8, then a linear lexer: semicolons, placeholders,
//     nesting (sql/lex). Hostile texts are refused here, before any C code.
//  2. parse: Postgres' own grammar, exactly one statement (sql/tree).
//  3. understand: every node is of an admitted kind; every table, column,
//     function and type is named and resolved as Postgres would (sql/analyze). Along
//     with that sql/fence judges what must be kept from other servers' rows, and
//     sql/hide finds the values that the planner must not know.
//  4. rules: the policy's allow-lists and the scope condition (rules.go).
//  5. rewrite: every reference to a scoped table is restricted to the server,
//     by editing the text (sql/rewrite).
//  6. verify: the final text is parsed again, and a separate proof shows that each
//     scoped reference is restricted and that nothing else changed (sql/verify).
//
// The first step that fails denies. Only a verified text becomes an
// Approved, only an Approved can be bound to a server and its arguments, and only
// a Bound can be sent upstream (approved.go, binding.go). hints.go adds the hint. In one case it replaces
// the refusal, too: of a table that the policy does not list nothing is understood, so step 3 may fail
// because of a column, and the caller reads of the table.
//
// # Where a statement is refused
//
// What, with which code, and where; paths without proxy/ are of this folder:
//
//	credentials, reach, scopes                    unauthorized, …                     proxy/rest/auth.go, proxy/wire/startup_authenticate.go
//	budgets, and places for parsing               rate_limited, overloaded            proxy/gate.go: Admit, Pace, decide
//	a policy that does not fit the database       upstream_unavailable                proxy/gate.go: decideFor
//	length (10,240 bytes unless the policy says   query_too_long, syntax_error        sql/lex/lex.go: checkBytes
//	  otherwise); NUL, UTF-8
//	a quote that is not closed                    syntax_error                        sql/lex/quotes.go
//	a semicolon; over Postgres' protocol only if  multiple_statements                 sql/lex/lex.go: punct; as a second net, sql/tree/parse.go: Parse
//	  another statement is behind it
//	syntax                                        syntax_error                        sql/tree/parse.go: Parse
//	a command of Postgres' dialect (SET, COPY,    statement_not_allowed, …            sql/command: Read; over REST it is refused as DROP is
//	  BEGIN)
//	DROP, VACUUM and their like                   statement_not_allowed               sql/tree/kinds.go: Grammar.Admit, called by sql/analyze/analyze.go: Analyze
//	a construct, such as TABLESAMPLE              construct_not_allowed               sql/tree/kinds.go: Grammar.Admit
//	SELECT, INSERT, UPDATE, DELETE by the policy  statement_not_allowed               rules.go: checkKinds; FOR UPDATE there too, and in checkTables as an UPDATE of the table
//	a table                                       table_not_allowed                   rules.go: checkTables; hints.go: preferTableRefusal asks it also where the analysis fails
//	a column that is missing or ambiguous         query_failed                        sql/analyze/columns.go: bareColumn, qualifiedColumn; its words: near.go
//	a column                                      column_not_allowed                  rules_columns.go: checkColumns
//	a function                                    function_not_allowed                rules.go: checkFunctions
//	an operator                                   construct_not_allowed               rules.go: checkOperators
//	a type                                        type_not_allowed                    rules.go: checkTypes
//	any other name, in a place not understood     construct_not_allowed               sql/analyze/names.go; analyze.go: unseen
//	what the barrier can't keep apart             construct_not_allowed               sql/fence/protect.go
//	columns that USING or NATURAL can't compare   construct_not_allowed               sql/analyze/from_join.go: mergedColumn
//	no scope condition, unless the policy's       missing_server_scope                rules.go: checkScope; the mode of policies/default.yaml is require, Postgres clients have inject
//	  scope mode is inject
//	an expression for the scope column            missing_server_scope                rules.go: checkScopeValues
//	a final text that can't be proved             internal                            sql/verify/verify.go: Verify
//	the number of arguments                       argument_count                      binding.go: Bind, called by proxy/rest/query.go: attempt, proxy/wire/session_approval.go: bound
//	another server's id for the scope column      foreign_server_id                   binding.go: compare, called by Bind: a constant in an INSERT; any other value if the policy's foreignServerId is reject. Else it is replaced
//	what Postgres refuses                         query_failed, …                     proxy/upstream/failure_sqlerror.go
//
// A Query message of Postgres' protocol may have several statements: proxy/wire/query_parts.go cuts it, and each is decided on.
//
// Postgres' dialect has commands beside statements on rows. The same guard and grammar read
// them. The text that runs is written anew from the parsed command, and parsed again to
// prove that it says the same (command.Read, Directive.Proved; decide_command.go). The query of a DECLARE
// or COPY goes through all of the steps; COPY of a table becomes a query or an INSERT.
//
// # Invariants
//
//   - The zero value of every type here denies.
//   - What is not understood is refused; there are allow-lists and no deny-lists.
//   - The isolation never depends on the caller's own WHERE.
//   - The text of an Approved never depends on the server: one plan serves all.
package policy

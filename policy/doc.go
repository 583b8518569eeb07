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
//     with that sql/fence judges what must be kept from other servers' rows.
//  4. rules: the policy's allow-lists and the scope condition (rules.go).
//  5. rewrite: every reference to a scoped table is restricted to the server,
//     by editing the text (sql/rewrite).
//  6. verify: the final text is parsed again, and a separate proof shows that each
//     scoped reference is restricted and that nothing else changed (sql/verify).
//
// The first step that fails denies. Only a verified text becomes an
// Approved, only an Approved can be bound to a server and its arguments, and only
// a Bound can be sent upstream (approved.go, binding.go). If several refusals apply, hints.go
// chooses the one that the caller reads, and its hint.
//
// # Where a statement is refused
//
//	credentials, reach, scopes                   proxy/rest/auth.go, proxy/wire/startup_authenticate.go
//	budgets, and places for parsing              proxy/gate.go: Admit, Pace, decide
//	a policy that does not fit the database      proxy/gate.go: decideFor
//	a Query message of several statements        nowhere: proxy/wire/query_parts.go cuts it, and each statement is decided on
//	length, NUL, UTF-8, a semicolon, quotes      sql/lex/lex.go, quotes.go, called by sql/lex/translate.go: Translate, Native
//	syntax; a statement behind a first           sql/tree/parse.go: Parse (the guard has refused most of these)
//	a command of Postgres' dialect               sql/command
//	any other kind of statement, a construct     sql/tree/kinds.go: Grammar.Admit, called by sql/analyze/analyze.go: Analyze
//	a column that does not exist or is ambiguous sql/analyze/columns.go: columnRef; its hint: near.go
//	any other name, in a place not understood    sql/analyze/names.go; analyze.go: unseen
//	what the barrier can't keep apart            sql/fence/protect.go
//	a kind, table, function, operator or type    rules.go: checkKinds, checkTables, checkFunctions, checkOperators, checkTypes
//	a table that the policy does not list, in    hints.go: preferTableRefusal (the analysis does not know the table's columns,
//	  a statement that the analysis refuses      and the caller reads why)
//	FOR UPDATE and its like                      rules.go: checkKinds; checkTables, as an UPDATE of the table (sql/analyze/analyze.go: lock)
//	a column                                     rules_columns.go: checkColumns
//	no scope condition                           rules.go: checkScope
//	a value for the scope column                 rules.go: checkScopeValues (an expression; other ids are replaced, or refused by Bind)
//	a final text that can't be proved            sql/verify/verify.go: Verify
//	the number of arguments, another server's id binding.go: Bind
//	what Postgres refuses                        proxy/upstream/failure_sqlerror.go
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

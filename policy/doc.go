// Package policy decides whether one SQL text may run for one server, and how.
//
// It is pure: text and plain data go in, a Decision comes out. There is no
// context, clock, file, network, log or goroutine below this line, so a decision
// can be replayed, tested and fuzzed. It depends on the dialect that the text is in and on
// the types that parameters were declared with, and not on the front end it came through.
//
// # What is decided, in which order (decide.go)
//
//  1. guard: length, NUL, UTF-8, then a linear lexer: semicolons, placeholders,
//     nesting (sql/lex). Hostile texts end here, before any C code.
//  2. parse: Postgres' own grammar, exactly one statement (sql/tree).
//  3. understand: every node is of an admitted kind; every table, column,
//     function and type is named and resolved as Postgres would (sql/analyze).
//  4. rules: the policy's allow-lists and the scope condition (rules.go).
//  5. rewrite: every reference to a scoped table is restricted to the server,
//     by editing the text (sql/rewrite).
//  6. verify: the final text is parsed again, and a separate proof shows that each
//     scoped reference is restricted and that nothing else changed (sql/verify).
//
// The first step that is not satisfied denies. Only a verified text becomes an
// Approved, only an Approved can be bound to a server and its arguments, and only
// what is Bound can be sent upstream (approved.go, binding.go). Which refusal the caller reads where several apply, and
// with which hint, is chosen in hints.go.
//
// Refusals of credentials are made before: proxy/rest/auth.go, proxy/wire/startup_authenticate.go. What the database
// refuses is told after: proxy/upstream/sqlerrors.go.
//
// In the dialect of Postgres there are commands beside statements on rows. They are read by
// the same guard and grammar, and what runs is made anew from what was read, and read again to
// prove that it says the same (command.Read, Directive.Proved; decide_command.go). The query of a DECLARE
// or COPY goes through all of the steps; COPY of a table is a query or an INSERT made for it.
//
// # Invariants
//
//   - The zero value of every type here denies.
//   - What is not understood is refused; there are allow-lists and no deny-lists.
//   - The isolation never rests on what the caller wrote in WHERE.
//   - The text of an Approved never depends on the server: one plan serves all.
package policy

// Package sqltree reads, rewrites and proves SQL with Postgres' own grammar. It is
// the only importer of pg_query_go, and as pure as package policy.
//
//	Translate  the caller's text → tokens, and placeholders as $n    (lex.go, translate.go)
//	Parse      → one statement's tree                                (parse.go)
//	Analyze    → Facts: every table, column, function, type, level   (kinds.go, analyze.go)
//	Rewrite    → edits of the text                                   (rewrite*.go)
//	Verify     → proof on the tree of the final text                 (verify*.go)
//
// Only Verify and the grammar are trusted; Rewrite is not.
package sqltree

// Package lex splits a text into tokens as Postgres does, before the parser, which is C code,
// sees it: hostile texts are refused here. It also turns ? placeholders into $n (translate.go), quotes names and
// literals (quotes.go), and has the cursor by which the rewrite finds positions in a text (tokens*.go).
//
// Scan's time is proportional to the text's length.
package lex

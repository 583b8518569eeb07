// Package lex reads a text's tokens as Postgres does, before the parser, which is C code, has
// seen it: hostile texts end here. It also makes ? placeholders $n (translate.go), spells names and
// literals (quotes.go), and has the cursor by which the rewrite finds its way in a text (tokens*.go).
//
// Scan takes time in proportion to the text's length.
package lex

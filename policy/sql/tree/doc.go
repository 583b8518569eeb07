// Package tree parses one statement with Postgres' own grammar and admits only the kinds of
// nodes, fields and values that it lists (kinds*.go, grammar.go). It also has the functions that walk a tree, compare two
// trees or recognise the shape of a node, and the Catalog of the objects that a statement may name.
//
// All other steps trust this package and package lex.
package tree

// Package tree parses one statement with Postgres' own grammar and admits only the kinds of
// nodes, fields and values that it lists (kinds*.go, grammar.go). What walks a tree, compares two of
// them or reads a shape off a node is here too, and so is the Catalog of what a statement may name.
//
// It and package lex are what all other steps trust.
package tree

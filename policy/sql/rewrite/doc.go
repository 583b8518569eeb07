// Package rewrite restricts a statement to the server by edits of its text, at the positions
// in the Facts. It never prints a tree. It is not trusted: package verify proves each text.
package rewrite

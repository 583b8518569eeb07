// Package rewrite restricts a statement to the server by edits of its text, at the places
// that the Facts name. It never prints a tree. Nothing trusts it: package verify proves each text.
package rewrite

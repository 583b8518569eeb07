// Package command reads the commands beside statements on rows, such as BEGIN, SET, FETCH and
// COPY, and makes anew the text that runs, from what it read (text.go). A Directive is proved by reading
// that text again.
package command

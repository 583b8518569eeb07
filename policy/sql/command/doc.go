// Package command reads the commands beside statements on rows, such as BEGIN, SET, FETCH and
// COPY, and writes the text that runs anew from what it read (text.go). It proves a Directive by reading
// that text again.
package command

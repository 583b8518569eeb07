// Package statement generates SQL statements for the proof of isolation: valid ones by a
// typed grammar, damaged ones by mutation, and small ones by shrinking.
//
// A Statement is a list of tokens, each with the argument that belongs to it
// and with the text that replaces it on a plain database that holds only one server's
// rows. So the same statement can be written for tenantgate and for a plain driver, cut,
// swapped and reduced without losing track of its arguments.
//
// The package is pure: a seed and a number always give the same statement.
package statement

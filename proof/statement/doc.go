// Package statement makes SQL statements for the proof of isolation: valid ones by a
// grammar with types, damaged ones by mutation, and small ones by shrinking.
//
// A Statement is a list of tokens, each of which carries the argument that goes with it,
// and knows what stands in its place on a plain database that holds only one server's
// rows. So the same statement can be written for tenantgate and for a plain driver, cut,
// swapped and reduced without losing track of its arguments.
//
// The package is pure: a seed and a number give the same statement for ever.
package statement

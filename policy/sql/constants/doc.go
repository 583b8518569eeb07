// Package constants finds the constants of a text that could as well be parameters, so that
// texts which differ in these alone share a decision (constants.go), and puts values in the place of
// parameters, with proof that nothing else changed (inline.go, places.go).
package constants

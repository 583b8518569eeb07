// Package constants finds the constants of a text that could be parameters instead, so that
// texts which differ only in these share a decision (constants.go). It also puts values in the place of
// parameters, with a proof that nothing else changed (inline.go, places.go).
package constants

// Package refusal has the type that says why a text is refused, the codes that
// the packages beside this one use, and the search for the nearest name to a misspelt one.
package refusal

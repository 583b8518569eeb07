// Package refusal has the type that says why a text is refused, and the codes of it that
// the packages beside this one raise.
package refusal

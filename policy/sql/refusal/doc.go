// Package refusal has the type that says why a text is refused, the codes of it that
// the packages beside this one raise, and which names a misspelt one was likely meant as.
package refusal

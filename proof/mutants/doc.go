// Package mutants tests the proof: it breaks the engine in the ways of mutants.txt, one at
// a time, and requires that the proof fails for each.
//
// A mutant is a name, the kind of proof that must fail, and edits of the source. Mutants of
// the rewrite or the analysis also turn the verifier off, so that the experiment
// alone must notice.
package mutants

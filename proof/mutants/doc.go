// Package mutants proves the proof: it breaks the engine in the ways of mutants.txt, one at
// a time, and demands that the proof fails for each.
//
// A mutant is a name, the kind of proof that must fail, and edits of the source. Those that
// break the rewrite or the analysis also take the verifier away, so that the experiment
// alone must notice.
package mutants

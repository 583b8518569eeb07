// Package facts has what the steps hand to each other: Facts, which Analyze finds and the
// rules judge; Demands, by which Verify knows what the rewrite must have done; and the Rewritten text.
package facts

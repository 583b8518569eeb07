// Package facts has the types that the steps pass to each other: Facts, the result of Analyze, which the
// rules check; Demands, which tell Verify what the rewrite must have done; and the Rewritten text.
package facts

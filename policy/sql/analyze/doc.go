// Package analyze understands one statement: Analyze resolves every table, column, function
// and type as Postgres would, and gives the Facts.
//
//	names      analyze.go, columns.go, from*.go, output*.go, with.go, writes.go, names.go, meaning.go
//	scope      which conditions compare the scope column with the server (scope*.go)
//	types      what types and collations expressions have (leakproof_types.go, merge_types.go, collations.go)
//	barrier    which expressions could fail on other servers' rows, and what keeps them from
//	           these (barrier.go, leakproof*.go, overlooked.go, exposure.go, kept.go, steady.go)
//	planner    which values must be hidden from the planner (hide*.go, params.go)
//	bounds     what a plan takes (weight.go), and which values may be time zones (zones.go)
//
// A name that the analysis does not come to is refused (analyzer.unseen).
package analyze

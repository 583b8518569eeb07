// Package analyze understands one statement: Analyze resolves every table, column, function
// and type as Postgres would, and gives the Facts.
//
//	names      analyze.go, columns.go, from*.go, output*.go, with.go, writes.go, names.go, meaning.go
//	scope      which conditions compare the scope column with the server (scope.go)
//	bounds     what a plan takes (weight.go), and which values may be time zones (zones.go)
//
// Three packages work with what it found: types finds the types of expressions, fence what must be kept from other
// servers' rows (exposure.go tells it of relations and conditions), and hide what must be hidden from the planner.
//
// A name that the analysis does not come to is refused (analyzer.unseen).
package analyze

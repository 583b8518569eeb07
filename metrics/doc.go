// Package metrics counts what tenantgate does and exposes it to the operator.
//
// New builds and registers every metric of the process on a registry of its own;
// there is no other place where one is made. Each thing worth counting is one method
// with basic types, so that other packages declare the interface they need and this
// package imports none of them.
//
// # Labels are bounded
//
// No label value comes from outside unchecked. The values that each label may have
// are given to New, their series exist from the start (at zero, so that the first
// event is already an increase), and every other value is counted as "other". A
// server's id, a statement, an argument or an error's text is never a label.
//
// # Operations listener
//
// Ops serves /metrics, /healthz and /readyz, and nothing else, on an address that is
// not the public one.
package metrics

// Package proxy is what both front ends share: who is calling, what they reach,
// whether their statement may run, and how a refusal is told.
//
// A request passes the Gate in this order, and can be turned away at each step:
//
//	credentials → reach (which project, which server) → scope and activity
//	→ rate and place → Check (policy) → bind → upstream
//
// A client of Postgres' protocol proves its key once, when it comes, and the rest of that is
// asked for each of its statements; whether the key is valid still, whenever anything has
// changed (Holder). It keeps its place as long as its transaction is open.
//
// Nothing before the last step costs a database connection. Package rest speaks HTTP,
// package wire Postgres' protocol, and package upstream speaks to Postgres; they meet here
// and nowhere else. What wire has done by upstream is an Exchange; both use package frame.
package proxy

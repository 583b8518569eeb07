// Package proxy is what both front ends share: authentication, authorisation, the decision on
// a statement, and the type of a refusal.
//
// A request passes the Gate in this order, and can be refused at each step:
//
//	credentials → reach (which project, which server) → scope and activity
//	→ rate and place → Check (policy) → bind → upstream
//
// A client of Postgres' protocol proves its key once, when it connects. The other steps run
// for each of its statements; whether the key is still valid is checked whenever something
// changed. The client keeps its place as long as its transaction is open.
//
// No step before the last uses a database connection. Package rest speaks HTTP,
// package wire Postgres' protocol with clients, and package upstream with Postgres; they meet only
// here. Package wire passes work to upstream as an Exchange; both use package frame.
package proxy

// Package proxy is what both front ends share: who is calling, what they reach,
// whether their statement may run, and how a refusal is told.
//
// A request passes the Gate in this order, and can be turned away at each step:
//
//	credentials → reach (which project, which server) → scope and activity
//	→ rate and place → Check (policy) → bind → upstream
//
// Nothing before the last step costs a database connection. Package rest speaks HTTP
// and package upstream speaks to Postgres; they meet here and nowhere else.
package proxy

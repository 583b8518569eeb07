// Package verify proves a rewritten text on its own tree: each reference to a scoped table
// is restricted to the server, and nothing else has changed. It imports neither the analysis nor the
// rewrite; it shares only the parser, the catalog and the Demands with them.
package verify

package builtin

import "path"

// family is a group of names that stay out for what they do and pg_proc does not say.
type family struct {
	pattern string // * stands for any characters
	reason  string
}

// families are found by reading the names that rule.sql has no objection to, in every
// supported major. Some patterns reach further than that: what a later major adds under
// such a name is out until somebody has looked at it.
var families = [...]family{
	{"pg_*", "reads or steers the catalog, sessions, statistics, locks, files or settings"},
	{"binary_upgrade_*", "writes the catalog"},
	{"has_*_privilege", "tells which objects and roles exist, by name"},
	{"row_security_active", "tells about a table by name"},
	{"*_description", "reads the catalog"},
	{"to_reg*", "finds a catalog object by name"},
	{"reg*in", "finds a catalog object by name"},
	{"reg*out", "names a catalog object"},
	{"current_*", "tells about the session that all servers share, its role and settings"},
	{"session_user", "tells the role that all servers share"},
	{"system_user", "tells how that role signed in"},
	{"getpgusername", "tells that role"},
	{"getdatabaseencoding", "tells a setting"},
	{"get_current_ts_config", "tells a setting"},
	{"set_config", "changes settings, that of row-level security among them"},
	{"setseed", "changes what random gives to others on the same connection"},
	{"inet_client_*", "tells about the network behind the service"},
	{"inet_server_*", "tells about the network behind the service"},
	{"version", "tells which holes the installation has"},
	{"unicode_version", "tells about the installation"},
	{"icu_unicode_version", "tells about the installation"},
	{"txid_*", "counts transactions, those of other servers among them"},
	{"currtid*", "reads a table by name"},
	{"currval", "reads a sequence that all servers share"},
	{"lastval", "reads a sequence that all servers share"},
	{"nextval", "advances a sequence that all servers share"},
	{"setval", "sets a sequence that all servers share"},
	{"lo_*", "reads and writes large objects, and files"},
	{"loread", "reads large objects"},
	{"lowrite", "writes large objects"},
	{"*xml*", "reads any table or query as text, or hands input to a large parser in C"},
	{"xpath*", "hands input to a large parser in C"},
	{"ts_debug", "reads the catalog"},
	{"ts_parse", "reads the catalog"},
	{"ts_token_type", "reads the catalog"},
	{"ts_lexize", "names a dictionary of the catalog"},
	{"ts_stat", "runs SQL given as text"},
	{"ts_rewrite", "runs SQL given as text"},
	{"brin_*", "machinery of an index"},
	{"gin_*", "machinery of an index"},
	{"gist_*", "machinery of an index"},
	{"spg_*", "machinery of an index"},
	{"*send", "the binary output of a type"},
	{"*recv", "the binary input of a type"},
}

// objections gives what the families have against a name.
func objections(name string) []string {
	var found []string
	for _, f := range families {
		if ok, err := path.Match(f.pattern, name); ok || err != nil {
			found = append(found, "family "+f.pattern)
		}
	}
	return found
}

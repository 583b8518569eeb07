package builtin

// exception overrules objections to one name.
type exception struct {
	name   string
	excuse []string // the objections that do not count; any other one still does
	reason string
}

// exceptions were reviewed one by one. Each excuses what is known of the name today: an
// overload that a later major adds with another objection takes the name out again.
var exceptions = [...]exception{
	// array_sample and array_shuffle are not: the generator behind them has no setseed, and what they do with it tells
	// what they did for the server that had the backend before.
	{"random", []string{"volatile"}, "gives a number and changes nothing but the generator, which each transaction begins with a seed of its own"},
	{"random_normal", []string{"volatile"}, "as random"},
	{"gen_random_uuid", []string{"volatile"}, "gives random bits from the operating system"},
	{"uuidv4", []string{"volatile"}, "as gen_random_uuid"},
	{"uuidv7", []string{"volatile"}, "as gen_random_uuid, led by the time"},
	{"clock_timestamp", []string{"volatile"}, "tells the time"},
	{"timeofday", []string{"volatile"}, "tells the time"},

	{"age", []string{"type xid"}, "the overload on xid counts transactions, but no admitted type, column or function gives an xid, and an untyped literal is ambiguous"},
	{"min", []string{"type oid", "type tid", "type pg_lsn", "type xid8"}, "gives one of its arguments, whatever their type"},
	{"max", []string{"type oid", "type tid", "type pg_lsn", "type xid8"}, "gives one of its arguments, whatever their type"},
	{"int8", []string{"type oid"}, "gives its argument as a number; the other casts by name are in"},
	{"text", []string{"type xml"}, "gives its argument as text; nothing admitted gives an xml"},

	{"length", []string{"type path"}, "the overload on path visits each point once; the one on text is everyday"},
	{"area", []string{"type path"}, "as length; the others take a figure of fixed size"},
	{"box", []string{"type polygon"}, "as area"},
	{"circle", []string{"type polygon"}, "as area"},
	{"point", []string{"type polygon"}, "as area"},

	{"hashtext", []string{"machinery"}, "applications bucket rows with it"},
	{"hashtextextended", []string{"machinery"}, "applications bucket rows with it"},
	{"inet_merge", []string{"machinery"}, "a documented function of the network types that an index shares"},
	{"inet_same_family", []string{"machinery"}, "a documented function of the network types that an index shares"},
	{"isempty", []string{"machinery"}, "a documented function of the range types that an index shares"},
	{"range_merge", []string{"machinery"}, "a documented function of the range types that an index shares"},
	{"bound_box", []string{"machinery"}, "a documented function of the geometric types that an index shares"},

	{"pg_size_pretty", []string{"family pg_*"}, "writes a number with a unit"},
	{"pg_size_bytes", []string{"family pg_*"}, "reads a number with a unit"},
}

// excused tells whether an objection to a name was overruled.
func excused(name, objection string) bool {
	for _, e := range exceptions {
		if e.name != name {
			continue
		}
		for _, excuse := range e.excuse {
			if excuse == objection {
				return true
			}
		}
	}
	return false
}

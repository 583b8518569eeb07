package builtin

// typeGroup is a decision on some types of pg_catalog, named as in pg_type.
type typeGroup struct {
	names  []string
	reason string
}

// admittedTypes may be named in a cast or a column definition: a value of them is all
// that there is to them.
var admittedTypes = [...]typeGroup{
	{[]string{"bool", "int2", "int4", "int8", "float4", "float8", "numeric", "money"}, "numbers and truth"},
	{[]string{"text", "varchar", "bpchar", "char", "name"}, "text; char here is the one-byte type that SQL writes \"char\""},
	{[]string{"bytea", "bit", "varbit", "uuid"}, "bytes, bits and ids"},
	{[]string{"date", "time", "timetz", "timestamp", "timestamptz", "interval"}, "dates and times"},
	{[]string{"json", "jsonb", "jsonpath"}, "JSON"},
	{[]string{"inet", "cidr", "macaddr", "macaddr8"}, "network addresses"},
	{[]string{"point", "line", "lseg", "box", "circle"}, "geometry of fixed size"},
	{[]string{"int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"}, "ranges"},
	{[]string{"int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange"}, "sets of ranges"},
	{[]string{"tsvector", "tsquery"}, "full-text search"},
	{[]string{"regconfig"}, "names a text search configuration, as in to_tsvector('english', …): those are the same for all servers and hold no data"},
}

// refusedTypes are known and stay out.
var refusedTypes = [...]typeGroup{
	{[]string{"regclass", "regcollation", "regdictionary", "regnamespace", "regoper", "regoperator", "regproc", "regprocedure", "regrole", "regtype"},
		"read the catalog by name or number"},
	{[]string{"oid", "oidvector", "int2vector", "aclitem"}, "number and guard catalog objects, and nothing else honest"},
	{[]string{"xid", "xid8", "cid", "tid", "pg_lsn", "pg_snapshot", "txid_snapshot"}, "places and transactions of the database that all servers share"},
	{[]string{"refcursor"}, "names a portal of the session"},
	{[]string{"path", "polygon"}, "hold any number of points, and their functions compare each with each without a look at whether the statement was cancelled: " +
		"two paths of a megabyte keep a backend for hours, beyond every time limit"},
	{[]string{"xml"}, "its input goes to a large parser in C"},
	{[]string{"gtsvector", "pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list", "pg_brin_bloom_summary", "pg_brin_minmax_multi_summary", "pg_ddl_command"},
		"internals of the catalog and of indexes"},
	{[]string{"internal", "cstring", "void", "trigger", "event_trigger", "language_handler", "fdw_handler", "index_am_handler", "table_am_handler", "tsm_handler", "unknown"},
		"no values of SQL"},
}

// polymorphicTypes stand for the type of an actual argument. A function may declare them;
// a statement can't name them.
var polymorphicTypes = typeGroup{[]string{
	"any", "anyelement", "anyarray", "anynonarray", "anyenum", "anyrange", "anymultirange", "record",
	"anycompatible", "anycompatiblearray", "anycompatiblenonarray", "anycompatiblerange", "anycompatiblemultirange",
}, "are whatever the caller already has"}

// names flattens groups.
func names(groups []typeGroup) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g.names...)
	}
	return all
}

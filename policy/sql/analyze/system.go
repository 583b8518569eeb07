package analyze

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// OfSystem tells whether a statement was refused for what it names of Postgres' own catalog:
// for any fault where it reads from that, else where the fault is at such a name. at is the
// offset of the name. It is for what a caller is told, and decides nothing.
func OfSystem(stmt tree.Statement, c *tree.Catalog, f *refusal.Refusal) (at int, is bool) {
	s := systemNames{catalog: c, fault: f.Offset, at: -1}
	s.look(stmt)
	return s.at, s.found
}

// systemNames looks for the first name of the catalog.
type systemNames struct {
	catalog *tree.Catalog
	fault   int
	at      int
	found   bool
	from    bool // what is looked at stands in FROM
}

func (s *systemNames) look(m proto.Message) {
	switch n := m.(type) {
	case *pg.RangeVar:
		if isSystemTable(n, s.catalog) {
			s.found, s.at = true, tree.OffsetOf(n, -1)
		}
	case *pg.RangeFunction:
		s.from = true
		defer func() { s.from = false }()
	case *pg.FuncCall:
		s.name(n, n.Funcname, isSystemFunction)
	case *pg.TypeName:
		s.name(n, n.Names, isSystemType)
	}
	tree.Children(m, func(c proto.Message) bool {
		if !s.found {
			s.look(c)
		}
		return !s.found
	})
}

// name looks at the name of a function or a type.
func (s *systemNames) name(m proto.Message, parts []*pg.Node, is func(name string) bool) {
	names, ok := tree.Strings(parts)
	if !ok || len(names) == 0 || len(names) > 2 {
		return
	}
	own := len(names) == 1 || names[0] == "pg_catalog"
	of := own && is(names[len(names)-1]) || names[0] == informationSchema && len(names) == 2
	if at := tree.OffsetOf(m, -1); of && (s.from || at == s.fault) {
		s.found, s.at = true, at
	}
}

const informationSchema = "information_schema"

// isSystemTable tells tables of the catalog. A bare name is one where it begins as all of
// them do, and no table of the policy's is called so.
func isSystemTable(r *pg.RangeVar, c *tree.Catalog) bool {
	switch r.Schemaname {
	case "pg_catalog", informationSchema:
		return true
	case "":
		return strings.HasPrefix(r.Relname, "pg_") && c.Table("", r.Relname) == nil
	}
	return false
}

// isSystemFunction tells functions that say what is in the catalog.
func isSystemFunction(name string) bool {
	switch name {
	case "format_type", "obj_description", "col_description", "shobj_description", "oidvectortypes", "current_schemas",
		"aclexplode", "acldefault", "pg_has_role", "pg_timezone_names", "pg_timezone_abbrevs", "pg_encoding_to_char", "pg_char_to_encoding",
		"pg_describe_object", "pg_identify_object", "pg_options_to_table", "pg_index_column_has_property", "pg_partition_root",
		"pg_partition_tree", "pg_partition_ancestors", "pg_available_extensions", "pg_available_extension_versions", "pg_show_all_settings":
		return true
	}
	for _, whole := range []struct{ head, tail string }{
		{"pg_get_", ""}, {"pg_", "_is_visible"}, {"has_", "_privilege"}, {"to_reg", ""}, {"pg_", "_size"}, {"pg_relation_", ""}, {"pg_tablespace_", ""},
	} {
		if strings.HasPrefix(name, whole.head) && strings.HasSuffix(name, whole.tail) {
			return name != "pg_column_size"
		}
	}
	return false
}

// isSystemType tells the types whose values are names of the catalog.
func isSystemType(name string) bool {
	switch name {
	case "regclass", "regtype", "regproc", "regprocedure", "regoper", "regoperator", "regrole", "regnamespace", "regcollation":
		return true
	}
	return false
}

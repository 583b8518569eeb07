package analyze

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Postgres takes f(x) for the column f of x where x is a row and no function f takes it: sum(s) is s.sum, and no aggregate.
//
// https://www.postgresql.org/docs/18/sql-expressions.html#FIELD-SELECTION

// takesRows are functions of pg_catalog that take a row in all versions of Postgres, so that no column is meant.
var takesRows = []string{
	"count", "to_json", "to_jsonb", "row_to_json", "json_agg", "jsonb_agg", "array_agg", "num_nulls", "num_nonnulls", "json_build_array", "jsonb_build_array", "concat",
}

// rows are the columns of what a statement has named as a whole row.
type rows struct {
	columns map[string]bool
	unknown bool // of some they are not known
}

func (s *rows) add(r *relation) {
	s.unknown = s.unknown || !r.known
	if s.columns == nil {
		s.columns = map[string]bool{}
	}
	for _, c := range r.cols {
		s.columns[c.name] = true
	}
}

// refuseField refuses a call that may be the column of a row.
func (a *analyzer) refuseField(f *pg.FuncCall) {
	name := tree.LastName(f.Funcname)
	if len(f.Funcname) != 1 || len(f.Args) != 1 || f.FuncVariadic || f.AggWithinGroup || tree.IsWrittenAggregate(f) || slices.Contains(takesRows, name) {
		return
	}
	if (a.rows.unknown || a.rows.columns[name]) && a.mayBeRow(f.Args[0]) {
		r := refusal.Unsupported(int(f.Location), name+"(…) may be the column "+name+" of a row")
		r.Hint = "write such a column with its table's name and a dot, and name the columns of functions in FROM: f(…) AS f(a)"
		a.fail(r)
	}
}

// mayBeRow tells whether the value of m may be a row, or be made of one.
func (a *analyzer) mayBeRow(m proto.Message) bool {
	switch n := m.(type) {
	case *pg.ColumnRef:
		return !a.names[n].scalar
	case *pg.RowExpr:
		return true
	case *pg.ParamRef:
		t := a.types.GivenType(n)
		return t != tree.TypeName{} && !isScalarType(t)
	case *pg.TypeCast:
		return !a.isScalar(n.TypeName)
	case *pg.FuncCall:
		if name := a.types.CatalogCall(n); !a.catalog.Builtin[name] || slices.Contains(tree.RowCalls, name) {
			return true
		}
	}
	return tree.AnyChild(m, a.mayBeRow)
}

// isScalar tells a type of pg_catalog, or an array of one, that is no row's.
func (a *analyzer) isScalar(t *pg.TypeName) bool {
	return isScalarType(tree.TypeName{Schema: "pg_catalog", Name: a.types.CatalogType(t)})
}

func isScalarType(t tree.TypeName) bool {
	return t.Schema == "pg_catalog" && t.Name != "" && strings.TrimPrefix(t.Name, "_") != "record"
}

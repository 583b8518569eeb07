package policy

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Sets are the names that a policy file can refer to, as plain data: the named sets of
// pg_catalog's functions, and the types and operators of pg_catalog that a statement may
// name. Leakproof are those operators that tell nothing of their arguments but by the result.
type Sets struct {
	Functions map[string][]string
	Types     []string
	Operators []string
	Leakproof []Operator
	// Extensions are those whose functions and operators compute on their operands alone.
	Extensions []string
}

// Operator is an operator of pg_catalog by its name and its operands' types, as in pg_type;
// Left is "" for a prefix operator.
type Operator struct{ Name, Left, Right string }

// Policy is a policy file compiled against a schema. It is immutable and may be used
// from several goroutines. The zero value denies everything.
type Policy struct {
	file      *File
	catalog   *tree.Catalog
	kinds     facts.Access
	access    map[*tree.Table]facts.Access
	closed    map[*tree.Table]*Finding // tables that no statement may name, and why
	misfits   []Misfit
	functions map[tree.TypeName]bool
	types     map[tree.TypeName]bool
	given     map[uint32]GivenType // types outside pg_catalog that parameters may be given
	operators map[string]bool
	namesakes map[string]string // functions and operators that are refused where they are not qualified, and why
	limits    Limits
	origin    Origin
}

// Origin tells one compiled policy from every other, also from one of the same file and another schema. To hold one
// does not keep the policy in memory. The zero value is no policy's.
type Origin struct{ token *byte }

// Limits are those of the policy's statements and servers; none is zero.
func (p *Policy) Limits() Limits { return p.limits }

// Section gives what the file says of a table; nil where it does not name it.
func (f *File) Section(name TableName) *TableSection {
	i := slices.IndexFunc(f.Tables, func(t TableSection) bool { return t.TableName == name })
	if i < 0 {
		return nil
	}
	return &f.Tables[i]
}

// TableNames lists the tables that the file names, in its order.
func (f *File) TableNames() []TableName {
	names := make([]TableName, len(f.Tables))
	for i, t := range f.Tables {
		names[i] = t.TableName
	}
	return names
}

// Compile checks a file against the schema and gives the policy. A table, scope column
// or restricted column that the schema lacks is an error with the place in the file: a
// misspelled name would leave open what the author believes closed.
func Compile(f *File, s Schema, sets Sets) (*Policy, error) {
	p, err := CompileServed(f, s, sets)
	if err == nil && len(p.misfits) > 0 {
		return nil, p.misfits[0].Err
	}
	return p, err
}

// CompileServed is Compile for a policy that serves while the schema changes: a table that does
// not fit is closed, and the others are served. Misfits names the closed ones.
func CompileServed(f *File, s Schema, sets Sets) (*Policy, error) {
	allowed, err := f.AllowedFunctions(sets.Functions)
	if err != nil {
		return nil, err
	}
	p := &Policy{
		file: f, kinds: accessOf(f.Statement.Kinds), limits: f.Limits.WithDefaults(),
		access: map[*tree.Table]facts.Access{}, closed: map[*tree.Table]*Finding{}, functions: map[tree.TypeName]bool{}, types: map[tree.TypeName]bool{},
		given: map[uint32]GivenType{}, operators: map[string]bool{}, origin: Origin{new(byte)},
	}
	for _, name := range sets.Operators {
		p.operators[name] = true
	}
	tables := make([]*tree.Table, 0, len(f.Tables))
	for _, section := range f.Tables {
		t, findings, err := f.table(section, s)
		closing := section.closing(findings)
		if err != nil {
			t, closing = &tree.Table{Schema: section.Schema, Name: section.Name}, &Finding{Name: MisfitName, Breach: true}
			p.misfits = append(p.misfits, Misfit{Table: section.TableName, Err: err})
		}
		tables = append(tables, t)
		p.closed[t] = closing
		p.access[t] = accessOf(section.Access)
		t.Closed = p.closed[t] != nil || p.access[t] == 0
	}
	others, refused, err := namesakes(s, allowed, sets.Extensions)
	if err != nil {
		return nil, err
	}
	p.namesakes = refused
	complexity := tree.Complexity{MaxNodes: f.Statement.MaxNodes, MaxDepth: f.Statement.MaxDepth}
	p.catalog = tree.NewCatalog(tables, p.allowFunctions(allowed), p.allowTypes(s.Types, sets.Types), operators(sets.Leakproof), complexity).With(others, bareTables(s.Bare))
	p.catalog.Builtin = map[string]bool{}
	for _, set := range sets.Functions {
		for _, name := range set {
			p.catalog.Builtin[name] = true
		}
	}
	p.allowGiven(s.Given)
	return p, nil
}

func bareTables(list []TableName) []tree.TypeName {
	out := make([]tree.TypeName, len(list))
	for i, t := range list {
		out[i] = tree.TypeName(t)
	}
	return out
}

func operators(list []Operator) []tree.OperatorName {
	out := make([]tree.OperatorName, len(list))
	for i, o := range list {
		out[i] = tree.OperatorName(o)
	}
	return out
}

func accessOf(kinds []Kind) facts.Access {
	var a facts.Access
	for _, k := range kinds {
		a |= map[Kind]facts.Access{Select: facts.AccessSelect, Insert: facts.AccessInsert, Update: facts.AccessUpdate, Delete: facts.AccessDelete}[k]
	}
	return a
}

// allowFunctions notes what may be called and gives the schemas of bare names that are
// not pg_catalog's.
func (p *Policy) allowFunctions(names []FunctionName) map[string]string {
	bare := map[string]string{}
	for _, n := range names {
		p.functions[tree.TypeName{Schema: n.Schema, Name: n.Name}] = true
	}
	for _, n := range names {
		if !p.functions[tree.TypeName{Schema: builtinSchema, Name: n.Name}] {
			bare[n.Name] = n.Schema
		}
	}
	return bare
}

func (p *Policy) allowTypes(own []Type, builtin []string) map[string]string {
	bare := map[string]string{}
	for _, name := range builtin {
		p.types[tree.TypeName{Schema: builtinSchema, Name: name}] = true
	}
	for _, t := range own {
		p.types[tree.TypeName(t)] = true
		if !slices.Contains(builtin, t.Name) {
			bare[t.Name] = t.Schema
		}
	}
	return bare
}

// allowGiven notes which types are domains, and the types that a parameter may be given beside those of pg_catalog. One that
// rests on a type which must not be named, such as regclass, does what that one does.
func (p *Policy) allowGiven(list []GivenType) {
	for _, t := range list {
		if t.Domain != (Type{}) {
			p.catalog.Domains[tree.TypeName(t.Domain)] = true
		}
		if builtinTypes[t.OID] == "" && (t.Rests.Schema != builtinSchema || p.types[tree.TypeName(t.Rests)]) {
			p.given[t.OID] = t
		}
	}
}

// unfit tells why a scope column does not keep the servers apart; "" where it does.
func unfit(section TableSection, t Table, namesakes []Namesake) string {
	for _, c := range t.Columns {
		i := slices.IndexFunc(namesakes, func(n Namesake) bool { return n.standsIn(Type{Schema: c.TypeSchema, Name: c.TypeName}) })
		switch {
		case !section.Scoped || c.Name != section.Column:
		case c.Loose:
			return "its collation is not deterministic, so that the ids of two servers can be equal"
		case !bindable(tree.TypeName{Schema: c.TypeSchema, Name: c.TypeName}):
			return "its type is " + c.TypeName + "; use text, varchar, char, uuid, an integer or citext"
		case i >= 0:
			return "it would be compared by " + namesakes[i].Text
		}
	}
	return ""
}

// table joins what the file and the schema say of one table, and gives what was found of it.
func (f *File) table(section TableSection, s Schema) (*tree.Table, []Finding, error) {
	found := s.Table(section.TableName)
	if found == nil {
		return nil, nil, f.Mistake(section.At, "the database has no table %s.%s", section.Schema, section.Name)
	}
	t := &tree.Table{Schema: found.Schema, Name: found.Name, Keys: found.Keys, OID: found.OID, Walled: found.Walled}
	for _, c := range found.Columns {
		read := tree.TypeName(c.Base) // as which a domain's values are read
		if c.Base == (Type{}) {
			read = tree.TypeName{Schema: c.TypeSchema, Name: c.TypeName}
		}
		t.Columns = append(t.Columns, tree.Column{
			Name: c.Name, Type: read,
			NotNull: c.NotNull, Collation: c.Collation, Virtual: c.Virtual, Generated: c.Generated || c.Virtual, Identity: c.Identity, Spans: c.Spans,
			NoRead: c.Unreadable, Ungranted: c.Unreadable, NoInsert: c.NoInsert, NoUpdate: c.NoUpdate,
		})
		if section.Scoped && c.Name == section.Column {
			t.Scope, t.ScopeType = c.Name, boundAs(c)
		}
	}
	if section.Scoped && t.Scope == "" {
		return nil, nil, f.Mistake(section.At, "table %s.%s has no column %s to scope it by", section.Schema, section.Name, section.Column)
	}
	if problem := unfit(section, *found, s.Namesakes); problem != "" {
		return nil, nil, f.Mistake(section.At, "column %s of table %s.%s can't be a scope column: %s", t.Scope, section.Schema, section.Name, problem)
	}
	for _, rule := range section.Columns {
		k := slices.IndexFunc(t.Columns, func(c tree.Column) bool { return c.Name == rule.Name })
		if k < 0 {
			return nil, nil, f.Mistake(rule.At, "table %s.%s has no column %s", section.Schema, section.Name, rule.Name)
		}
		c := &t.Columns[k]
		c.NoRead, c.Ungranted, c.NoWrite = c.NoRead || !rule.Read, c.Ungranted && rule.Read, !rule.Write
	}
	return t, found.Findings, nil
}

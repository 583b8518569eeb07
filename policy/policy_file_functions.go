package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// builtinSchema is where a function or type that names no schema is.
const builtinSchema = "pg_catalog"

// functions reads what may be called.
func (r *reader) functions(n ast.Node, s *FunctionsSection) error {
	return r.object(n, "functions", fields{
		"allow": func(n ast.Node) error { return r.functionEntries(n, "allow", &s.Allow) },
		"deny":  func(n ast.Node) error { return r.functionEntries(n, "deny", &s.Deny) },
	})
}

func (r *reader) functionEntries(n ast.Node, what string, into *[]FunctionEntry) error {
	return r.list(n, what, func(n ast.Node) error {
		var text string
		if err := r.text(n, "a function", &text); err != nil {
			return err
		}
		e, err := r.functionEntry(text, place(n))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(*into, func(o FunctionEntry) bool { return o.Set == e.Set && o.FunctionName == e.FunctionName }) {
			return r.mistake(e.At, "%q is in %s twice", text, what)
		}
		*into = append(*into, e)
		return nil
	})
}

// functionEntry reads @set, function or schema.function.
func (r *reader) functionEntry(text string, at Position) (FunctionEntry, error) {
	if strings.HasPrefix(text, "@") {
		return FunctionEntry{Set: text, At: at}, nil
	}
	schema, name, qualified := strings.Cut(text, ".")
	if !qualified {
		schema, name = builtinSchema, text
	}
	for _, part := range [...]string{schema, name} {
		if problem := badIdentifier(part); problem != "" {
			return FunctionEntry{}, r.mistake(at, "function %q %s; write @set, function or schema.function, without arguments", text, problem)
		}
	}
	if schema != builtinSchema && isSystemSchema(schema) {
		return FunctionEntry{}, r.mistake(at, "function %q is of a system schema: those can't be opened", text)
	}
	return FunctionEntry{FunctionName: FunctionName{Schema: schema, Name: name}, At: at}, nil
}

// AllowedFunctions gives the functions that the file admits, sorted: Allow less Deny. sets
// are the named sets of pg_catalog's functions by their names, which start with @.
//
// A single function of pg_catalog must be in one of the sets. What is in none is
// unknown or was judged unsafe, and one wrong word in a policy must not give away what
// the sets keep closed (query_to_xml reads any table, set_config becomes any server).
func (f *File) AllowedFunctions(sets map[string][]string) ([]FunctionName, error) {
	allowed := map[FunctionName]bool{}
	for _, e := range f.Functions.Allow {
		names, err := f.members(e, sets)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			allowed[name] = true
		}
	}
	if err := f.deny(allowed, sets); err != nil {
		return nil, err
	}
	list := make([]FunctionName, 0, len(allowed))
	for name := range allowed {
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b FunctionName) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// deny takes out what the file denies. A single function that nothing allows is taken
// for a typing mistake: the author believes that something is closed which is not.
func (f *File) deny(allowed map[FunctionName]bool, sets map[string][]string) error {
	for _, e := range f.Functions.Deny {
		if e.Set == "" && !allowed[e.FunctionName] {
			return f.Mistake(e.At, "%s.%s is denied but not allowed anyway; is it misspelled?", e.Schema, e.Name)
		}
		names, err := f.members(e, sets)
		if err != nil {
			return err
		}
		for _, name := range names {
			delete(allowed, name)
		}
	}
	return nil
}

func (f *File) members(e FunctionEntry, sets map[string][]string) ([]FunctionName, error) {
	if e.Set == "" {
		if e.Schema == builtinSchema && !inSomeSet(e.Name, sets) {
			return nil, f.Mistake(e.At, "%s is in no set of admissible functions of pg_catalog", e.Name)
		}
		return []FunctionName{e.FunctionName}, nil
	}
	set, ok := sets[e.Set]
	if !ok {
		return nil, f.Mistake(e.At, "unknown function set %q; known are: %s", e.Set, strings.Join(sortedKeys(sets), ", "))
	}
	names := make([]FunctionName, len(set))
	for i, name := range set {
		names[i] = FunctionName{Schema: builtinSchema, Name: name}
	}
	return names, nil
}

func inSomeSet(name string, sets map[string][]string) bool {
	for _, set := range sets {
		if slices.Contains(set, name) {
			return true
		}
	}
	return false
}

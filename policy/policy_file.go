package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Defaults of what a file leaves out. Those of the limits are in Limits.WithDefaults.
const (
	defaultScopeColumn = "server_id"
	defaultMaxBytes    = 10_240
	defaultMaxNodes    = 5_000
	defaultMaxDepth    = 100
)

// Parse reads a policy file: one YAML document of at most 1 MB in UTF-8. It takes the
// whole file or nothing; its errors are *FileError and tell the first mistake in the
// order of the text. What is missing is the documented default where a default can't
// open anything, else nothing: no tables, no functions, no statement kinds.
func Parse(src []byte) (*File, error) {
	r, err := newReader(src)
	if err != nil {
		return nil, err
	}
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(src)
	f := &File{
		SHA256:    hex.EncodeToString(sum[:]),
		Statement: StatementSection{MaxBytes: defaultMaxBytes, MaxNodes: defaultMaxNodes, MaxDepth: defaultMaxDepth},
		Scope:     ScopeSection{Column: defaultScopeColumn, Mode: Require, ForeignID: Replace},
		Planner:   Generic,
		source:    r.source,
	}
	if err := r.file(root, f); err != nil {
		return nil, err
	}
	f.fillScopeColumns()
	return f, nil
}

// fillScopeColumns comes last, as the scope section may stand after the tables.
func (f *File) fillScopeColumns() {
	for i := range f.Tables {
		if t := &f.Tables[i]; t.Scoped && t.Column == "" {
			t.Column = f.Scope.Column
		}
	}
}

// file reads the outermost mapping.
func (r *reader) file(n ast.Node, f *File) error {
	return r.object(n, "the policy", fields{
		"apiVersion": func(n ast.Node) error { return r.constant(n, "apiVersion", "tenantgate/v1") },
		"kind":       func(n ast.Node) error { return r.constant(n, "kind", "Policy") },
		"metadata":   func(n ast.Node) error { return r.metadata(n, f) },
		"mode":       r.mode,
		"statement":  func(n ast.Node) error { return r.statement(n, &f.Statement) },
		"scope":      func(n ast.Node) error { return r.scope(n, &f.Scope) },
		"planner":    func(n ast.Node) error { return choice(r, n, "planner", &f.Planner, Generic, Custom) },
		"tables":     func(n ast.Node) error { return r.tables(n, &f.Tables) },
		"functions":  func(n ast.Node) error { return r.functions(n, &f.Functions) },
		"limits":     func(n ast.Node) error { return r.limits(n, &f.Limits) },
	}, "apiVersion", "kind", "metadata")
}

func (r *reader) metadata(n ast.Node, f *File) error {
	return r.object(n, "metadata", fields{
		"name":        func(n ast.Node) error { return r.policyName(n, &f.Name) },
		"description": func(n ast.Node) error { return r.text(n, "description", &f.Description) },
	}, "name")
}

// mode admits the only mode there is. The other one of the format is told apart from a
// typing mistake.
func (r *reader) mode(n ast.Node) error {
	var mode string
	if err := r.text(n, "mode", &mode); err != nil {
		return err
	}
	switch mode {
	case "enforce":
		return nil
	case string(Require), string(Once), string(Inject):
		return r.mistake(place(n), "mode %s belongs to the scope: write scope: {mode: %[1]s}", mode)
	case "monitor":
		return r.mistake(place(n), "mode monitor is not supported yet; write enforce")
	}
	return r.mistake(place(n), "unknown mode %q; write enforce", mode)
}

func (r *reader) statement(n ast.Node, s *StatementSection) error {
	return r.object(n, "statement", fields{
		"kinds":    func(n ast.Node) error { return r.kinds(n, "kinds", &s.Kinds) },
		"maxBytes": func(n ast.Node) error { return r.number(n, "maxBytes", maxStatementBytes, &s.MaxBytes) },
		"maxNodes": func(n ast.Node) error { return r.number(n, "maxNodes", maxStatementNodes, &s.MaxNodes) },
		"maxDepth": func(n ast.Node) error { return r.number(n, "maxDepth", maxStatementDepth, &s.MaxDepth) },
	})
}

func (r *reader) scope(n ast.Node, s *ScopeSection) error {
	return r.object(n, "scope", fields{
		"column":          func(n ast.Node) error { return r.identifier(n, "column", &s.Column) },
		"mode":            func(n ast.Node) error { return choice(r, n, "scope mode", &s.Mode, Require, Once, Inject) },
		"foreignServerId": func(n ast.Node) error { return choice(r, n, "foreignServerId", &s.ForeignID, Replace, Reject) },
	})
}

// kinds reads a list of statement kinds.
func (r *reader) kinds(n ast.Node, what string, into *[]Kind) error {
	list := []Kind{}
	err := r.list(n, what, func(n ast.Node) error {
		var k Kind
		if err := choice(r, n, "statement kind", &k, Select, Insert, Update, Delete); err != nil {
			return err
		}
		if slices.Contains(list, k) {
			return r.mistake(place(n), "%q is in %s twice", k, what)
		}
		list = append(list, k)
		return nil
	})
	*into = list
	return err
}

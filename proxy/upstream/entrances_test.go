package upstream

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// entrances are the exported functions and methods by which something comes into the package, with an example of
// each that takes an argument. Open is not among them: its Config is the operator's.
var entrances = map[string]any{
	"Pool.Link": (*Pool).Link, "Pool.Query": (*Pool).Query, "Pool.Schema": (*Pool).Schema, "Pool.Contended": (*Pool).Contended, "Pool.Ready": (*Pool).Ready, "Link.Run": (*Link).Run,
	"Open": nil, "Pool.Close": nil, "Pool.Stat": nil, "Pool.ServerVersion": nil, "Pool.Adopted": nil, "Link.Rollback": nil, "ErrorClasses": nil, "ReplaceReasons": nil,
}

// noSQL are the texts and the values of any type that those take, and why none of them is run as SQL.
var noSQL = map[string]string{
	"proxy.Account.Project":   "for shares",
	"proxy.Account.Server":    "the id that is signed; the Bound of each step must be of the same",
	"Pool.Query.1":            "the project, for shares",
	"policy.TableName.Schema": "a value of the catalog's query",
	"policy.TableName.Name":   "a value of the catalog's query",
	"proxy.Step.Portal":       "a name in Bind, Execute and Close",
	"proxy.Step.Text":         "for the client",
	"frame.Description.Row":   "for the client",
	"frame.Column.Name":       "for the client",
	"frame.Writer.Buf":        "for the client",
	"frame.Writer.To":         "the client's connection",
	"Pool.Query.4":            "where the answer is appended",
}

// Ensure nothing that can be filled outside package policy is run as SQL: a new exported function must be listed
// here, and so must each text that one takes.
func TestEntrances(t *testing.T) {
	for _, name := range exported(t) {
		if _, listed := entrances[name]; !listed {
			t.Errorf("%s is a new entrance: say here what it takes", name)
		}
	}
	found := map[string]bool{}
	for name, f := range entrances {
		if f == nil {
			continue
		}
		typ := reflect.TypeOf(f)
		for i := 1; i < typ.NumIn(); i++ {
			w := walk{t, map[reflect.Type]bool{}, found}
			w.in(typ.In(i), name+"."+string(rune('0'+i-1)))
		}
	}
	for place := range noSQL {
		if !found[place] {
			t.Errorf("%s is not there", place)
		}
	}
}

// exported lists the exported functions and methods of exported types.
func exported(t *testing.T) (names []string) {
	t.Helper()
	paths, _ := filepath.Glob("*.go")
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if p, ok := of.(*ast.StarExpr); ok {
					of = p.X
				}
				if !ast.IsExported(of.(*ast.Ident).Name) {
					continue
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			names = append(names, name)
		}
	}
	if len(names) < 10 {
		t.Fatal("only", names)
	}
	return names
}

// walk looks for texts in what a type holds.
type walk struct {
	t     *testing.T
	seen  map[reflect.Type]bool
	found map[string]bool // the places of texts
}

func (w walk) in(typ reflect.Type, place string) {
	text := reflect.TypeFor[[]byte]()
	switch {
	case typ.Kind() == reflect.String || typ == text || typ.Kind() == reflect.Interface && typ != reflect.TypeFor[context.Context]() && typ != reflect.TypeFor[Room]():
		if w.found[place] = true; noSQL[place] == "" {
			w.t.Errorf("%s takes a %v", place, typ)
		}
		return
	case w.seen[typ]:
		return
	}
	w.seen[typ] = true
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		w.in(typ.Elem(), place)
	case reflect.Map:
		w.in(typ.Key(), place)
		w.in(typ.Elem(), place)
	case reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() { // what is not only its own package can fill
				w.in(f.Type, typ.String()+"."+f.Name)
			}
		}
	}
}

// Ensure what opens a transaction is a BEGIN of the link's server, and a setting one that the policy has given.
func TestExchangeIsChecked(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	other, _ := l.approve("BEGIN").Bind("another", nil)
	for name, x := range map[string]proxy.Exchange{
		"another server's BEGIN": {Begin: other, Commit: true},
		"a statement":            {Begin: l.bound(l.approve("DELETE FROM notes")), Commit: true},
		"a COMMIT":               {Begin: l.bound(l.approve("COMMIT")), Commit: true},
		"a setting of no policy": {Settings: []policy.Setting{{}}, Resettle: true, Commit: true},
	} {
		x.Steps = append(x.Steps, l.simple("SELECT id FROM notes WHERE id = 1"))
		said, state, err := l.run(x)
		if err == nil || proxy.AsError(err).Code != policy.Internal || state != proxy.Idle || len(said) > 0 {
			t.Errorf("%s: %q %v %v", name, said, state, err)
		}
	}
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("ROLLBACK")}, Commit: true}, proxy.Idle, "done ROLLBACK")
}

package sqltree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// wantChildren holds the two ways to find children together, and gives them.
func wantChildren(t *testing.T, m protoreflect.Message) (all []protoreflect.Message) {
	t.Helper()
	want := byDescriptor(m)
	children(m, func(c protoreflect.Message) bool { all = append(all, c); return true })
	same := len(all) == len(want)
	for i := 0; same && i < len(all); i++ {
		same = all[i].Interface() == want[i].Interface()
	}
	if !same {
		t.Errorf("%s: %d children, want %d", m.Descriptor().Name(), len(all), len(want))
	}
	if n, ok := m.Interface().(*pg.Node); ok && len(want) == 1 && inner(n).Interface() != want[0].Interface() {
		t.Errorf("a Node holds %s, not %s", inner(n).Descriptor().Name(), want[0].Descriptor().Name())
	}
	for i := range all {
		asked := 0
		children(m, func(protoreflect.Message) bool { asked++; return asked <= i })
		if asked != i+1 {
			t.Errorf("%s: asked %d times, want %d", m.Descriptor().Name(), asked, i+1)
		}
	}
	return all
}

// TestChildrenOfEveryKind fills every field of every kind that the parser has.
func TestChildrenOfEveryKind(t *testing.T) {
	messages, kinds := (&pg.ParseResult{}).ProtoReflect().Descriptor().ParentFile().Messages(), 0
	for i := range messages.Len() {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(messages.Get(i).FullName())
		if err != nil {
			t.Fatal(err)
		}
		wantChildren(t, kind.New())
		wantChildren(t, kind.Zero())
		full, fields := kind.New(), messages.Get(i).Fields()
		for j := range fields.Len() {
			if fd := fields.Get(j); fd.ContainingOneof() != nil {
				one := kind.New()
				fill(one, fd)
				wantChildren(t, one)
			} else {
				fill(full, fd)
			}
		}
		if len(wantChildren(t, full)) > 0 {
			kinds++
		}
	}
	if inner(nil) != nil || inner(&pg.Node{}) != nil {
		t.Error("no Node, or an empty one, holds something")
	}
	if kinds < 150 {
		t.Errorf("only %d kinds have children", kinds)
	}
}

// fill gives a field something that is not its zero value; a list has two entries.
func fill(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	switch {
	case fd.IsList() && fd.Kind() == protoreflect.MessageKind:
		m.Mutable(fd).List().AppendMutable()
		m.Mutable(fd).List().AppendMutable()
	case fd.Kind() == protoreflect.MessageKind:
		m.Mutable(fd)
	}
}

// TestChildrenOfRealTrees takes all statements of the parser's own cases.
func TestChildrenOfRealTrees(t *testing.T) {
	var all func(protoreflect.Message)
	messages := 0
	all = func(m protoreflect.Message) {
		messages++
		for _, c := range wantChildren(t, m) {
			all(c)
		}
	}
	files, _ := filepath.Glob("../testdata/decide/*")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(src), "\n\n") {
			_, text, _ := strings.Cut(part, "\n")
			text, _, _ = strings.Cut(text, "\n----")
			if tr, f := Translate(text, Guard{MaxBytes: 10_240}); f == nil {
				if stmt, f := Parse(tr.Text); f == nil {
					all(stmt.ProtoReflect())
				}
			}
		}
	}
	if messages < 10_000 {
		t.Errorf("only %d messages were looked at", messages)
	}
}

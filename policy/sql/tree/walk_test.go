package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// wantChildren holds the two ways to find children together, and gives them.
func wantChildren(t *testing.T, m proto.Message) (all []proto.Message) {
	t.Helper()
	want := byDescriptor(m.ProtoReflect())
	Children(m, func(c proto.Message) bool { all = append(all, c); return true })
	same := len(all) == len(want)
	for i := 0; same && i < len(all); i++ {
		same = all[i] == want[i]
	}
	if !same {
		t.Errorf("%s: %d children, want %d", m.ProtoReflect().Descriptor().Name(), len(all), len(want))
	}
	if n, ok := m.(*pg.Node); ok && len(want) == 1 && Unwrap(n) != want[0] {
		t.Errorf("a Node holds %T, not %T", Unwrap(n), want[0])
	}
	for i := range all {
		asked := 0
		Children(m, func(proto.Message) bool { asked++; return asked <= i })
		if asked != i+1 {
			t.Errorf("%s: asked %d times, want %d", m.ProtoReflect().Descriptor().Name(), asked, i+1)
		}
	}
	return all
}

// TestOffsetOfEveryKind holds the places of all kinds to the descriptors.
func TestOffsetOfEveryKind(t *testing.T) {
	placed := 0
	for _, kind := range everyKind(t) {
		fd := kind.Descriptor().Fields().ByName("location")
		if fd == nil || fd.Kind() != protoreflect.Int32Kind {
			if at := OffsetOf(kind.New().Interface(), -7); at != -7 {
				t.Errorf("%s, which has no place, stands at %d", kind.Descriptor().Name(), at)
			}
			continue
		}
		placed++
		for at, want := range map[int32]int{-1: -7, 0: 0, 3: 3} {
			m := kind.New()
			m.Set(fd, protoreflect.ValueOfInt32(at))
			if have := OffsetOf(m.Interface(), -7); have != want {
				t.Errorf("%s stands at %d, want %d", kind.Descriptor().Name(), have, want)
			}
		}
	}
	if placed < 50 {
		t.Errorf("only %d kinds have a place", placed)
	}
}

// TestChildrenOfEveryKind fills every field of every kind that the parser has.
func TestChildrenOfEveryKind(t *testing.T) {
	kinds := 0
	for _, kind := range everyKind(t) {
		wantChildren(t, kind.New().Interface())
		wantChildren(t, kind.Zero().Interface())
		full, fields := kind.New(), kind.Descriptor().Fields()
		for j := range fields.Len() {
			if fd := fields.Get(j); fd.ContainingOneof() != nil {
				one := kind.New()
				fill(one, fd)
				wantChildren(t, one.Interface())
			} else {
				fill(full, fd)
			}
		}
		if len(wantChildren(t, full.Interface())) > 0 {
			kinds++
		}
	}
	if Unwrap(nil) != nil || Unwrap(&pg.Node{}) != nil {
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
	var all func(proto.Message)
	messages := 0
	all = func(m proto.Message) {
		messages++
		for _, c := range wantChildren(t, m) {
			all(c)
		}
	}
	files, _ := filepath.Glob("../../testdata/decide/*")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(src), "\n\n") {
			_, text, _ := strings.Cut(part, "\n")
			text, _, _ = strings.Cut(text, "\n----")
			if tr, f := lex.Translate(text, lex.Guard{MaxBytes: 10_240}); f == nil {
				if stmt, f := Parse(tr.Text); f == nil {
					all(stmt)
				}
			}
		}
	}
	if messages < 10_000 {
		t.Errorf("only %d messages were looked at", messages)
	}
}

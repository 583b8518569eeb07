package tree

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestGrammarEmptyNode puts a Node that holds nothing into every field of every admitted
// kind that may hold Nodes: it is admitted where the table says null, and only there.
func TestGrammarEmptyNode(t *testing.T) {
	s, tried, nulls := collect(t), 0, 0
	for name, sp := range s.kinds {
		fields := sp.in(sp.stmt).Descriptor().Fields()
		kinds, err := newKinds()
		if err != nil {
			t.Fatal(err)
		}
		for i := range fields.Len() {
			fd, f := fields.Get(i), kinds[name].fields[i]
			if !f.any || fd.Message() == nil || fd.Message().Name() != "Node" {
				continue
			}
			admitted := s.with(name, func(m protoreflect.Message) {
				if m.Set(fd, m.NewField(fd)); fd.IsList() {
					m.Mutable(fd).List().AppendMutable()
				}
			})
			if admitted != f.nulls {
				t.Errorf("%s.%s with an empty Node: admitted is %v, want %v", name, fd.Name(), admitted, f.nulls)
			}
			if tried++; f.nulls {
				nulls++
			}
		}
	}
	if tried < 60 || nulls != 2 {
		t.Errorf("%d fields were tried, and %d of them may hold an empty Node", tried, nulls)
	}
}

package sqltree

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// children calls visit for every message directly beneath m, in field order, with
// the name of the field it stands in. It goes by the descriptor and names no kind:
// a tree walk that lists kinds forgets some, and a walk over *pg.Node alone never
// sees the target of an INSERT or the arms of a UNION, which are not Nodes.
func children(m protoreflect.Message, visit func(field protoreflect.Name, child protoreflect.Message) bool) {
	more := true
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Kind() != protoreflect.MessageKind {
			return true
		}
		if !fd.IsList() {
			more = visit(fd.Name(), v.Message())
			return more
		}
		list := v.List()
		for i := 0; i < list.Len() && more; i++ {
			more = visit(fd.Name(), list.Get(i).Message())
		}
		return more
	})
}

// anyChild tells whether is holds for a message directly beneath m; it asks no further then.
func anyChild(m protoreflect.Message, is func(protoreflect.Message) bool) (found bool) {
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		found = is(c)
		return !found
	})
	return found
}

// inner gives the message that a Node holds; nil for a nil or empty Node.
func inner(n *pg.Node) protoreflect.Message {
	if n == nil {
		return nil
	}
	m := n.ProtoReflect()
	fd := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if fd == nil {
		return nil
	}
	return m.Get(fd).Message()
}

// isNode tells whether m is the wrapper that the grammar's lists are made of.
func isNode(m protoreflect.Message) bool {
	_, ok := m.Interface().(*pg.Node)
	return ok
}

// offsetOf gives the byte offset of m in the text, or otherwise where m has none.
func offsetOf(m protoreflect.Message, otherwise int) int {
	fd := m.Descriptor().Fields().ByName("location")
	if fd == nil || fd.Kind() != protoreflect.Int32Kind {
		return otherwise
	}
	if at := int(m.Get(fd).Int()); at >= 0 {
		return at
	}
	return otherwise
}

// nodeOffset is offsetOf for a Node; -1 where there is no place. It descends to the first
// location, since some kinds (a row, a list) carry none of their own.
func nodeOffset(n *pg.Node) int {
	m := inner(n)
	if m == nil {
		return -1
	}
	if at := offsetOf(m, -1); at >= 0 {
		return at
	}
	at := -1
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		if cn, ok := c.Interface().(*pg.Node); ok {
			at = nodeOffset(cn)
		}
		return at < 0
	})
	return at
}

// stringsOf gives the values of a list of String nodes; ok is false when another kind is among them.
func stringsOf(nodes []*pg.Node) (names []string, ok bool) {
	names = make([]string, 0, len(nodes))
	for _, n := range nodes {
		s, isString := n.GetNode().(*pg.Node_String_)
		if !isString {
			return names, false
		}
		names = append(names, s.String_.GetSval())
	}
	return names, true
}

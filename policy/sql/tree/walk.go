package tree

import (
	"reflect"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Children calls visit for every message directly beneath m, in field order, until it gives
// false. It names no kind: a tree walk that lists kinds forgets some, and a walk over
// *pg.Node alone never sees the target of an INSERT or the arms of a UNION, which are not
// Nodes. It goes by the fields of the Go type that the parser's library has for m: all walks
// of a decision together ask a dozen times for each message's, and protobuf's reflection
// took a third of the time.
func Children(m proto.Message, visit func(child proto.Message) bool) {
	if n, ok := m.(*pg.Node); ok { // half of a tree
		if held := Unwrap(n); held != nil {
			visit(held)
		}
		return
	}
	if !isGenerated(m) {
		for _, c := range byDescriptor(m.ProtoReflect()) {
			if !visit(c) {
				return
			}
		}
		return
	}
	v := reflect.ValueOf(m)
	if v.IsNil() {
		return
	}
	v = v.Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanInterface() && !eachIn(f, visit) {
			return
		}
	}
}

// isGenerated tells whether a message's fields are those of a Go type.
func isGenerated(m proto.Message) bool {
	_, ok := m.(interface{ Descriptor() ([]byte, []int) })
	return ok
}

// byDescriptor gives the children of any message. Range would give them in an order that
// differs between builds.
func byDescriptor(m protoreflect.Message) (all []proto.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch fd := fields.Get(i); {
		case fd.Kind() != protoreflect.MessageKind || !m.Has(fd):
		case fd.IsList():
			for j, list := 0, m.Get(fd).List(); j < list.Len(); j++ {
				all = append(all, list.Get(j).Message().Interface())
			}
		default:
			all = append(all, m.Get(fd).Message().Interface())
		}
	}
	return all
}

// eachIn calls visit for the messages that a field of a message holds: one, a list, or one
// of several kinds. It tells whether visit wants more.
func eachIn(f reflect.Value, visit func(proto.Message) bool) bool {
	switch f.Kind() {
	case reflect.Pointer:
		return f.IsNil() || visit(f.Interface().(proto.Message))
	case reflect.Slice:
		for i := range f.Len() {
			if m, ok := f.Index(i).Interface().(proto.Message); ok && !visit(m) {
				return false
			}
		}
	case reflect.Interface: // the kinds are structs of one field
		return f.IsNil() || eachIn(f.Elem().Elem().Field(0), visit)
	}
	return true
}

// AnyChild tells whether is holds for a message directly beneath m; it asks no further then.
func AnyChild(m proto.Message, is func(proto.Message) bool) (found bool) {
	Children(m, func(c proto.Message) bool {
		found = is(c)
		return !found
	})
	return found
}

// LevelChildren calls visit for the messages directly beneath m that belong to m's own query level: of a sub-query in an expression,
// what is compared with its rows.
func LevelChildren(m proto.Message, visit func(child proto.Message) bool) {
	if s, ok := m.(*pg.SubLink); !ok {
		Children(m, visit)
	} else if s.Testexpr != nil {
		visit(s.Testexpr)
	}
}

// AnyOfLevel is AnyChild for the messages of m's own query level.
func AnyOfLevel(m proto.Message, is func(proto.Message) bool) (found bool) {
	LevelChildren(m, func(c proto.Message) bool {
		found = is(c)
		return !found
	})
	return found
}

// Unwrap gives the message that a Node holds; nil for a nil or empty Node.
func Unwrap(n *pg.Node) (m proto.Message) {
	if n == nil || n.Node == nil {
		return nil
	}
	if held := reflect.ValueOf(n.Node).Elem().Field(0); !held.IsNil() {
		m = held.Interface().(proto.Message)
	}
	return m
}

// isNode tells whether m is the wrapper that the grammar's lists are made of.
func isNode(m proto.Message) bool {
	_, ok := m.(*pg.Node)
	return ok
}

// OffsetOf gives the byte offset of m in the text, or otherwise where m has none.
func OffsetOf(m proto.Message, otherwise int) int {
	placed, ok := m.(interface{ GetLocation() int32 })
	if !ok || placed.GetLocation() < 0 {
		return otherwise
	}
	return int(placed.GetLocation())
}

// Offset is offsetOf for a Node; -1 where there is no place. It descends to the first
// location, since some kinds (a row, a list) carry none of their own.
func Offset(n *pg.Node) int {
	m := Unwrap(n)
	if m == nil {
		return -1
	}
	if at := OffsetOf(m, -1); at >= 0 {
		return at
	}
	at := -1
	Children(m, func(c proto.Message) bool {
		if cn, ok := c.(*pg.Node); ok {
			at = Offset(cn)
		}
		return at < 0
	})
	return at
}

// Strings gives the values of a list of String nodes; ok is false when another kind is among them.
func Strings(nodes []*pg.Node) (names []string, ok bool) {
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

// Leftmost gives the smallest place in the text beneath m; -1 where there is none. The
// query of a sub-query stands behind its bracket.
func Leftmost(m proto.Message) int {
	best := OffsetOf(m, -1)
	Children(m, func(c proto.Message) bool {
		if s, ok := c.(*pg.SubLink); ok && s.Location >= 0 {
			c = s.Testexpr
			best = earlier(best, int(s.Location))
		}
		best = earlier(best, Leftmost(c))
		return true
	})
	return best
}

// earlier gives the smaller of two places; -1 is none.
func earlier(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

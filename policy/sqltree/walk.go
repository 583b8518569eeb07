package sqltree

import (
	"reflect"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// children calls visit for every message directly beneath m, in field order, until it gives
// false. It names no kind: a tree walk that lists kinds forgets some, and a walk over
// *pg.Node alone never sees the target of an INSERT or the arms of a UNION, which are not
// Nodes. It goes by the fields of the Go type that the parser's library has for m: all walks
// of a decision together ask a dozen times for each message's, and protobuf's reflection
// took a third of the time.
func children(m protoreflect.Message, visit func(child protoreflect.Message) bool) {
	own := m.Interface()
	if _, generated := own.(interface{ Descriptor() ([]byte, []int) }); !generated {
		for _, c := range byDescriptor(m) {
			if !visit(c) {
				return
			}
		}
		return
	}
	v := reflect.ValueOf(own)
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

// byDescriptor gives the children of any message. Range would give them in an order that
// differs between builds.
func byDescriptor(m protoreflect.Message) (all []protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch fd := fields.Get(i); {
		case fd.Kind() != protoreflect.MessageKind || !m.Has(fd):
		case fd.IsList():
			for j, list := 0, m.Get(fd).List(); j < list.Len(); j++ {
				all = append(all, list.Get(j).Message())
			}
		default:
			all = append(all, m.Get(fd).Message())
		}
	}
	return all
}

// eachIn calls visit for the messages that a field of a message holds: one, a list, or one
// of several kinds. It tells whether visit wants more.
func eachIn(f reflect.Value, visit func(protoreflect.Message) bool) bool {
	switch f.Kind() {
	case reflect.Pointer:
		return f.IsNil() || visit(f.Interface().(proto.Message).ProtoReflect())
	case reflect.Slice:
		for i := range f.Len() {
			if m, ok := f.Index(i).Interface().(proto.Message); ok && !visit(m.ProtoReflect()) {
				return false
			}
		}
	case reflect.Interface: // the kinds are structs of one field
		return f.IsNil() || eachIn(f.Elem().Elem().Field(0), visit)
	}
	return true
}

// anyChild tells whether is holds for a message directly beneath m; it asks no further then.
func anyChild(m protoreflect.Message, is func(protoreflect.Message) bool) (found bool) {
	children(m, func(c protoreflect.Message) bool {
		found = is(c)
		return !found
	})
	return found
}

// inner gives the message that a Node holds; nil for a nil or empty Node.
func inner(n *pg.Node) (m protoreflect.Message) {
	if n != nil && n.Node != nil {
		m = reflect.ValueOf(n.Node).Elem().Field(0).Interface().(proto.Message).ProtoReflect()
	}
	return m
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
	children(m, func(c protoreflect.Message) bool {
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

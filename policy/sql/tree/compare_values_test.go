package tree

import (
	"math"
	"reflect"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// setter puts a value into a field of a message.
type setter func(m protoreflect.Message, fd protoreflect.FieldDescriptor)

// setters give all the ways to fill a field that compare may have to tell apart, and the
// first leaves it empty.
func setters(fd protoreflect.FieldDescriptor) []setter {
	all := []setter{func(m protoreflect.Message, fd protoreflect.FieldDescriptor) { m.Clear(fd) }}
	for _, v := range values(fd) {
		all = append(all, func(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
			m.Clear(fd)
			switch {
			case fd.IsMap():
				m.Mutable(fd).Map().Set(protoreflect.ValueOfString("a").MapKey(), protoreflect.ValueOfString("b"))
			case fd.IsList():
				for range 1 + v.twice {
					m.Mutable(fd).List().Append(v.make(func() protoreflect.Value { return m.Mutable(fd).List().NewElement() }))
				}
			default:
				m.Set(fd, v.make(func() protoreflect.Value { return m.NewField(fd) }))
			}
		})
	}
	return all
}

// value is one of a field, or of an entry of its list.
type value struct {
	twice int // the list has it twice
	make  func(empty func() protoreflect.Value) protoreflect.Value
}

func values(fd protoreflect.FieldDescriptor) (all []value) {
	add := func(list ...any) {
		for _, v := range list {
			all = append(all, value{make: func(func() protoreflect.Value) protoreflect.Value { return protoreflect.ValueOf(v) }})
		}
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		add(true)
	case protoreflect.StringKind:
		add("x", "y")
	case protoreflect.Int32Kind:
		add(int32(7), int32(-7))
	case protoreflect.Int64Kind:
		add(int64(7), int64(1<<40))
	case protoreflect.Uint32Kind:
		add(uint32(7), uint32(1<<31))
	case protoreflect.Uint64Kind:
		add(uint64(7), uint64(1<<63))
	case protoreflect.DoubleKind:
		add(1.5, math.NaN(), math.Copysign(0, -1))
	case protoreflect.EnumKind:
		add(protoreflect.EnumNumber(1), protoreflect.EnumNumber(99))
	case protoreflect.MessageKind:
		for _, fill := range contents(fd.Message()) {
			all = append(all, value{make: func(empty func() protoreflect.Value) protoreflect.Value {
				v := empty()
				if !fd.IsMap() {
					fill(v.Message())
				}
				return v
			}})
		}
	}
	if fd.IsList() {
		all = append(all, value{twice: 1, make: all[0].make})
	}
	return all
}

// contents fill a message that another one holds: not at all, and so that two differ. All
// of its fields are tried where it stands alone.
func contents(d protoreflect.MessageDescriptor) []func(protoreflect.Message) {
	all := []func(protoreflect.Message){func(protoreflect.Message) {}}
	if d.Name() == "Node" {
		for _, n := range []*pg.Node{{Node: &pg.Node_String_{String_: &pg.String{Sval: "x"}}}, {Node: &pg.Node_String_{String_: &pg.String{Sval: "y"}}}, {Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}} {
			all = append(all, func(m protoreflect.Message) { proto.Merge(m.Interface(), n) })
		}
		return all
	}
	for i := range d.Fields().Len() {
		fd := d.Fields().Get(i)
		if fd.Kind() == protoreflect.MessageKind || fd.IsList() || isPlace(fd.Name()) {
			continue
		}
		for _, v := range values(fd) {
			all = append(all, func(m protoreflect.Message) { m.Set(fd, v.make(nil)) })
		}
		return all
	}
	return all
}

// goName gives the name of a field in the Go type, "" for one that shares its place.
func goName(m proto.Message, fd protoreflect.FieldDescriptor) string {
	typ := reflect.TypeOf(m).Elem()
	for i := range typ.NumField() {
		if slices.Contains(strings.Split(typ.Field(i).Tag.Get("protobuf"), ","), "name="+string(fd.Name())) {
			return typ.Field(i).Name
		}
	}
	return ""
}

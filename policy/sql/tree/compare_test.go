package tree

import (
	"fmt"
	"slices"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// compareByDescriptor is compare by the descriptors of the messages, and so by whatever
// fields there are.
func compareByDescriptor(a, b protoreflect.Message, except ...protoreflect.Name) (err error) {
	if a.Descriptor() != b.Descriptor() {
		return fmt.Errorf("%s became %s", a.Descriptor().Name(), b.Descriptor().Name())
	}
	each := func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !isPlace(fd.Name()) && !slices.Contains(except, fd.Name()) {
			err = compareFieldByDescriptor(fd, a, b)
		}
		return err == nil
	}
	// By the fields that are set: a Node has hundreds, of which one is.
	if a.Range(each); err == nil {
		b.Range(each)
	}
	return err
}

func isPlace(name protoreflect.Name) bool {
	return name == "location" || name == "stmt_location" || name == "stmt_len"
}

func compareFieldByDescriptor(fd protoreflect.FieldDescriptor, a, b protoreflect.Message) error {
	switch x, y := a.Get(fd), b.Get(fd); {
	case a.Has(fd) != b.Has(fd):
		return fmt.Errorf("%s of %s appeared or vanished", fd.Name(), a.Descriptor().Name())
	case fd.IsMap():
		return fmt.Errorf("%s of %s is a map", fd.Name(), a.Descriptor().Name())
	case fd.IsList() && (x.List().Len() != y.List().Len() || fd.Kind() != protoreflect.MessageKind):
		return fmt.Errorf("the list %s changed", fd.Name())
	case fd.IsList():
		for i := range x.List().Len() {
			if err := compareByDescriptor(x.List().Get(i).Message(), y.List().Get(i).Message()); err != nil {
				return err
			}
		}
	case fd.Kind() == protoreflect.MessageKind:
		return compareByDescriptor(x.Message(), y.Message())
	case !x.Equal(y):
		return fmt.Errorf("%s of %s changed", fd.Name(), a.Descriptor().Name())
	}
	return nil
}

// everyKind gives every kind of message that the parser has.
func everyKind(t *testing.T) (all []protoreflect.MessageType) {
	t.Helper()
	messages := (&pg.ParseResult{}).ProtoReflect().Descriptor().ParentFile().Messages()
	for i := range messages.Len() {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(messages.Get(i).FullName())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kind)
	}
	return all
}

// TestCompareEveryField gives every field of every kind that the parser has every two of
// its values, alone and with all other fields set, and holds compare to the descriptors.
func TestCompareEveryField(t *testing.T) {
	fields, found := 0, 0
	for _, kind := range everyKind(t) {
		full := kind.New()
		all := kind.Descriptor().Fields()
		for i := range all.Len() {
			setters(all.Get(i))[1](full, all.Get(i))
		}
		for i := range all.Len() {
			fields++
			differences := compareValues(t, kind.New(), all.Get(i))
			if (differences == 0) != isPlace(all.Get(i).Name()) {
				t.Errorf("%s: %d differences", all.Get(i).FullName(), differences)
			}
			found += differences + compareValues(t, full, all.Get(i))
		}
	}
	t.Logf("%d fields, %d differences", fields, found)
	if fields < 1500 || found < 10_000 {
		t.Errorf("only %d fields and %d differences", fields, found)
	}
}

// compareValues compares messages that are as base is but for a field, with and without
// leave to differ there, and gives how often a difference was found.
func compareValues(t *testing.T, base protoreflect.Message, fd protoreflect.FieldDescriptor) (found int) {
	t.Helper()
	var one, other []protoreflect.Message
	for _, set := range setters(fd) {
		a, b := proto.Clone(base.Interface()).ProtoReflect(), proto.Clone(base.Interface()).ProtoReflect()
		set(a, fd)
		set(b, fd)
		one, other = append(one, a), append(other, b)
	}
	name := goName(base.Interface(), fd)
	for i, a := range one {
		for k, b := range other {
			want, have := compareByDescriptor(a, b), Compare(a.Interface(), b.Interface(), Diff)
			if (want == nil) != (have == nil) {
				t.Errorf("%s, values %d and %d: %v, want %v", fd.FullName(), i, k, have, want)
			}
			if have != nil {
				found++
			}
			if name == "" {
				continue
			}
			want, have = compareByDescriptor(a, b, fd.Name()), Compare(a.Interface(), b.Interface(), Diff, name)
			if (want == nil) != (have == nil) {
				t.Errorf("%s, but for that field: %v, want %v", fd.FullName(), have, want)
			}
		}
	}
	return found
}

// hiding has a field more than a message that can't be looked into, strange has one of a type
// that no message has, several has one of two kinds that hold the same, and foreign is no
// message that was generated.
type (
	hiding struct {
		*pg.A_Star
		_, _, _, _ int
	}
	strange struct {
		*pg.A_Star
		_, _, _ int
		Other   func()
	}
	several struct {
		*pg.A_Star
		_, _, _ int
		Of      any
	}
	first   struct{ *pg.A_Star }
	second  struct{ *pg.A_Star }
	foreign struct {
		proto.Message
		_, _, _ int
	}
	plain struct {
		*pg.A_Star
		_, _, _ int
	}
)

// Ensure that what compare does not know is a difference.
func TestCompareUnknown(t *testing.T) {
	for _, kind := range everyKind(t) {
		known, unknown := kind.New(), kind.New()
		unknown.SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 7777, protowire.VarintType), 1))
		for _, pair := range [][2]protoreflect.Message{{known, unknown}, {unknown, known}, {unknown, proto.Clone(unknown.Interface()).ProtoReflect()}} {
			if Compare(pair[0].Interface(), pair[1].Interface(), Diff) == nil {
				t.Errorf("%s: a field of a later release is no difference", kind.Descriptor().Name())
			}
		}
	}
	var none *pg.String
	dynamic := func() proto.Message { return dynamicpb.NewMessage(none.ProtoReflect().Descriptor()) }
	for name, c := range map[string]struct {
		a, b proto.Message
		same bool
	}{
		"one kind": {&pg.String{}, &pg.String{}, true}, "another kind": {&pg.String{}, &pg.Float{}, false},
		"nothing and nothing": {none, none, true}, "something and nothing": {&pg.String{}, none, false}, "nothing and something": {none, &pg.String{}, false},
		"no message": {nil, nil, false}, "a message and none": {&pg.String{}, nil, false},
		"no Go type": {dynamic(), dynamic(), false}, "a Go type and none": {&pg.String{}, dynamic(), false},
		"nothing hidden": {&plain{}, &plain{}, true}, "a hidden field": {&hiding{}, &hiding{}, false}, "a strange field": {&strange{}, &strange{}, false},
		"one of several":     {&several{Of: &first{&pg.A_Star{}}}, &several{Of: &first{&pg.A_Star{}}}, true},
		"another of several": {&several{Of: &first{&pg.A_Star{}}}, &several{Of: &second{&pg.A_Star{}}}, false},
		"a foreign message":  {&foreign{}, &foreign{}, false},
	} {
		if err := Compare(c.a, c.b, Diff); (err == nil) != c.same {
			t.Errorf("%s: %v", name, err)
		}
	}
}

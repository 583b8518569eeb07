package tree

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/proto"
)

// Compare demands that two messages are of one kind and have equal fields, except those
// that only say where in the text something stands and those in except, by their names in
// the Go type. What the messages hold is compared by message.
//
// Like children it goes by the fields of the Go types. What it does not know is a
// difference: another type of field, one that the Go type hides, one of a later release.
func Compare(a, b proto.Message, message func(a, b proto.Message) error, except ...string) error {
	if !isGenerated(a) || !isGenerated(b) {
		return fmt.Errorf("%T and %T can't be compared", a, b)
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Type() != y.Type():
		return fmt.Errorf("%s became %s", x.Type().Elem().Name(), y.Type().Elem().Name())
	case x.IsNil() != y.IsNil():
		return fmt.Errorf("%s appeared or vanished", x.Type().Elem().Name())
	case x.IsNil():
		return nil
	}
	return compareFields(x.Elem(), y.Elem(), message, except)
}

// Diff is compare with no allowance for anything. Where the verifier builds what it wants
// to see, parts of it are the very messages that it is given: to compare those would take time
// and find nothing.
func Diff(a, b proto.Message) error {
	if a == b {
		return nil
	}
	return Compare(a, b, Diff)
}

// Equal tells whether exactly finds no difference.
func Equal(a, b proto.Message) bool { return Diff(a, b) == nil }

// hiddenFields are those that every generated message has beside the grammar's: its state,
// its size, and the bytes of fields that its type does not have.
const hiddenFields = 3

func compareFields(x, y reflect.Value, message func(a, b proto.Message) error, except []string) error {
	hidden := 0
	for i := range x.NumField() {
		f, g := x.Field(i), y.Field(i)
		if !f.CanInterface() {
			if hidden++; f.Kind() == reflect.Slice && f.Len()+g.Len() > 0 {
				return fmt.Errorf("%s has a field of a later release", x.Type().Name())
			}
			continue
		}
		if alike(f, g) {
			continue
		}
		name := x.Type().Field(i).Name
		if isLocation(name) || slices.Contains(except, name) {
			continue
		}
		ok, err := compareHeld(f, g, message)
		if !ok {
			return fmt.Errorf("%s of %s changed", name, x.Type().Name())
		}
		if err != nil {
			return err
		}
	}
	if hidden != hiddenFields {
		return fmt.Errorf("%s hides fields", x.Type().Name())
	}
	return nil
}

func isLocation(name string) bool {
	return name == "Location" || name == "StmtLocation" || name == "StmtLen"
}

// alike tells whether two fields hold the same name, number or the like, or both nothing.
func alike(f, g reflect.Value) bool {
	switch f.Kind() {
	case reflect.Pointer, reflect.Interface:
		return f.IsNil() && g.IsNil()
	case reflect.Slice, reflect.Map:
		return f.Len() == 0 && g.Len() == 0
	case reflect.String:
		return f.String() == g.String()
	case reflect.Bool:
		return f.Bool() == g.Bool()
	case reflect.Int32, reflect.Int64:
		return f.Int() == g.Int()
	case reflect.Uint32, reflect.Uint64:
		return f.Uint() == g.Uint()
	case reflect.Float64: // -0 is set, and 0 is not
		return math.Float64bits(f.Float()) == math.Float64bits(g.Float())
	}
	return false
}

// compareHeld compares what fields that differ so far hold: a message, a list of them, or
// one of several kinds. ok is false where that is a difference by itself.
func compareHeld(f, g reflect.Value, message func(a, b proto.Message) error) (ok bool, err error) {
	switch f.Kind() {
	case reflect.Pointer:
		a, isMessage := f.Interface().(proto.Message)
		if !isMessage || f.IsNil() || g.IsNil() {
			return false, nil
		}
		return true, message(a, g.Interface().(proto.Message))
	case reflect.Interface: // the kinds are structs of one field
		if f.IsNil() || g.IsNil() || f.Elem().Type() != g.Elem().Type() {
			return false, nil
		}
		return compareHeld(f.Elem().Elem().Field(0), g.Elem().Elem().Field(0), message)
	case reflect.Slice:
		ok = f.Len() == g.Len()
		for i := 0; ok && err == nil && i < f.Len(); i++ {
			ok, err = compareHeld(f.Index(i), g.Index(i), message)
		}
		return ok, err
	}
	return false, nil
}

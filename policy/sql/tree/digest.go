package tree

import (
	"hash/maphash"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/proto"
)

// Digest gives the same number for messages between which Compare finds no difference, if child does for what they hold, and
// hardly ever for others. With another seed it is another number: nobody can choose texts of equal digests.
func Digest(m proto.Message, seed maphash.Seed, child func(proto.Message) uint64, except ...string) uint64 {
	d := digest{child: child}
	d.SetSeed(seed)
	v := reflect.ValueOf(m)
	if !isGenerated(m) || v.IsNil() {
		return d.Sum64()
	}
	v = v.Elem()
	_, _ = d.WriteString(v.Type().Name())
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.CanInterface() && !alike(f, reflect.Zero(f.Type())) && !isLocation(name) && !slices.Contains(except, name) {
			maphash.WriteComparable(&d.Hash, i)
			d.held(f)
		}
	}
	return d.Sum64()
}

type digest struct {
	maphash.Hash
	child func(proto.Message) uint64
}

// held adds what a field holds: one value, a list, or one of several kinds.
func (d *digest) held(f reflect.Value) {
	switch f.Kind() {
	case reflect.Pointer:
		if m, isMessage := f.Interface().(proto.Message); isMessage && !f.IsNil() {
			maphash.WriteComparable(&d.Hash, d.child(m))
		}
	case reflect.Interface: // the kinds are structs of one field
		_, _ = d.WriteString(f.Elem().Type().String())
		d.held(f.Elem().Elem().Field(0))
	case reflect.Slice:
		maphash.WriteComparable(&d.Hash, f.Len())
		for i := range f.Len() {
			d.held(f.Index(i))
		}
	case reflect.String:
		maphash.WriteComparable(&d.Hash, f.Len())
		_, _ = d.WriteString(f.String())
	case reflect.Bool:
		maphash.WriteComparable(&d.Hash, f.Bool())
	case reflect.Int32, reflect.Int64:
		maphash.WriteComparable(&d.Hash, f.Int())
	case reflect.Uint32, reflect.Uint64:
		maphash.WriteComparable(&d.Hash, f.Uint())
	case reflect.Float64:
		maphash.WriteComparable(&d.Hash, math.Float64bits(f.Float()))
	}
}

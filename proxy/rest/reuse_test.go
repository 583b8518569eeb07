package rest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/policy"
)

// Nothing of a request is left in the next one of its connection: whatever is in each
// field, the new request is one of a new connection.
func TestNothingIsLeft(t *testing.T) {
	s := &Server{}
	used := &conn{}
	filled := reflect.ValueOf(&used.request).Elem()
	for i := range filled.NumField() {
		if fill(filled.Field(i)); filled.Field(i).IsZero() {
			t.Fatalf("field %s could not be filled: teach fill its type", filled.Type().Field(i).Name)
		}
	}
	var requests [2]request
	for i, c := range []*conn{used, {}} {
		var ctx fasthttp.RequestCtx
		ctx.Init2(&stream{socket: c}, nil, false)
		r := s.newRequest(&ctx)
		if r.conn != c || r.http != &ctx || r.id == "left" || time.Since(r.start) > time.Minute {
			t.Errorf("connection, context, id or start is another's: %+v", r)
		}
		if args := r.statement.args; len(args) > 0 || slices.ContainsFunc(args[:cap(args)], func(arg policy.Arg) bool { return arg != policy.Arg{} }) {
			t.Errorf("left: %v", args[:cap(args)])
		}
		r.statement.args = nil // the memory may stay
		requests[i] = *r
		requests[i].conn, requests[i].http, requests[i].id, requests[i].start = nil, nil, "", time.Time{}
	}
	if !reflect.DeepEqual(requests[0], requests[1]) {
		t.Errorf("left: %+v\nwant %+v", requests[0], requests[1])
	}
}

// A reader reads each body as a new one does, whatever it read before.
func TestReadersForget(t *testing.T) {
	bodies := []string{
		`{"query":"a","args":["b",{"c":[1]},"\u00e9"]}`, ``, `{"query":"a","query":"b"}`, `{"query":"a"}`, `{"args":[{"a":1,"a":2}]}`, `{"args":[{"a":1}]}`, `{"args":[[[`,
		`[]`, `{"x":1}`, `{"query":"\ud800"}`, `{"query":"a"} {}`, "{\"query\":\"\xff\"}", `{"Query":1,"query":"b"}`, `null`, `{"query":1}`, `{`, strings.Repeat("[", 20000), `{"query":"` + strings.Repeat("x", 5000) + `"}`,
	}
	read := func(reader *reader, body string) (statement, error) {
		reader.body = append(reader.body[:0], body...)
		var s statement
		err := reader.read(&s)
		return s, err
	}
	used := &reader{}
	for _, before := range bodies {
		for _, body := range bodies {
			_, _ = read(used, before)
			got, gotErr := read(used, body)
			want, wantErr := read(&reader{}, body)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
				t.Errorf("%.60q after %.60q: %v, %v, want %v, %v", body, before, got, gotErr, want, wantErr)
			}
		}
	}
}

// fill puts something other than zero into a value and into all that it is made of.
func fill(v reflect.Value) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // fields are not exported
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("left")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Interface:
		for _, value := range []any{errors.New("left"), context.Background()} {
			if reflect.TypeOf(value).Implements(v.Type()) {
				v.Set(reflect.ValueOf(value))
				return
			}
		}
	}
}

package tree

import (
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// later gives the messages of a parser to come: today's, with a field more in ParamRef, a
// kind more, and that kind in Node.
func later(t *testing.T) protoreflect.MessageDescriptors {
	t.Helper()
	next := protodesc.ToFileDescriptorProto((&pg.ParseResult{}).ProtoReflect().Descriptor().ParentFile())
	optional, number := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_TYPE_INT32
	for _, m := range next.MessageType {
		switch m.GetName() {
		case "ParamRef":
			m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{Name: proto.String("is_global"), Number: proto.Int32(77), Label: &optional, Type: &number})
		case "Node":
			kind := descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
			m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{Name: proto.String("future"), Number: proto.Int32(900), Label: &optional, Type: &kind,
				TypeName: proto.String(".pg_query.FutureExpr"), OneofIndex: proto.Int32(0)})
		}
	}
	next.MessageType = append(next.MessageType, &descriptorpb.DescriptorProto{Name: proto.String("FutureExpr")})
	file, err := protodesc.NewFile(next, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages()
}

// Ensure that what a later parser says is refused, by a program that was built with it and
// by one that was not.
func TestLaterParser(t *testing.T) {
	messages := later(t)
	param, future, node := messages.ByName("ParamRef"), messages.ByName("FutureExpr"), messages.ByName("Node")
	plain, odd, wrapped := dynamicpb.NewMessage(param), dynamicpb.NewMessage(param), dynamicpb.NewMessage(node)
	odd.Set(param.Fields().ByName("is_global"), protoreflect.ValueOfInt32(1))
	wrapped.Set(node.Fields().ByName("future"), protoreflect.ValueOfMessage(dynamicpb.NewMessage(future)))
	for name, c := range map[string]struct {
		message  proto.Message
		admitted bool
	}{
		"a kind": {dynamicpb.NewMessage(future), false}, "a kind in a Node": {wrapped, false},
		"a field": {odd, false}, "a field that is empty": {plain, true},
		"a kind, unknown":  {reread(t, wrapped, &pg.Node{}), false},
		"a field, unknown": {reread(t, odd, &pg.ParamRef{}), false},
		"nothing new":      {reread(t, plain, &pg.ParamRef{}), true},
		"a value":          {(&pg.BoolExpr{Boolop: 9}), false},
		"a known value":    {(&pg.BoolExpr{Boolop: pg.BoolExprType_OR_EXPR}), true},
	} {
		kinds, err := newKinds()
		if err != nil {
			t.Fatal(err)
		}
		g := &Grammar{Kinds: kinds, Limit: Complexity{MaxNodes: 9, MaxDepth: 9}}
		if f := g.Admit(c.message, 0, 0); (f == nil) != c.admitted {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// reread takes a message over as a program with today's descriptors does.
func reread(t *testing.T, m proto.Message, into proto.Message) proto.Message {
	t.Helper()
	wire, err := proto.Marshal(m)
	if err == nil {
		err = proto.Unmarshal(wire, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

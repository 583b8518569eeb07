package sqltree

import (
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// Inline puts the server's id into a final text that can take no parameters. It is proved: the
// text, parsed again, is that with the parameters, but for these, each of which is the id.
// params are the parameters in order, all of which must carry the id. The id must be one that
// a plain constant can hold.
func Inline(text string, params []FinalParam, id string) (string, *Fault) {
	if id == "" || strings.ContainsAny(id, "\\\x00") {
		return "", &Fault{Code: QueryFailed, SQLState: "22P02", Offset: -1, Message: "this server's id can't stand in a COPY"}
	}
	places, fault := Marks(text)
	if fault != nil {
		return "", fault
	}
	var b strings.Builder
	done := 0
	for _, p := range places {
		b.WriteString(text[done:p.Start])
		b.WriteString(Literal(id))
		done = p.End
	}
	b.WriteString(text[done:])
	final := b.String()
	if err := inlined(text, final, params, id); err != nil {
		return "", &Fault{Code: Internal, Offset: -1, Message: "the server's id could not be put into the text: " + err.Error()}
	}
	return final, nil
}

// Marks gives the parameters' places in a final text, in its order.
func Marks(text string) ([]Token, *Fault) {
	list, fault := scan(text, parseGuard(), false)
	if fault != nil {
		return nil, fault
	}
	var places []Token
	for _, t := range list {
		if t.Kind == Param {
			places = append(places, t)
		}
	}
	return places, nil
}

// inlined proves what Inline says.
func inlined(text, final string, params []FinalParam, id string) error {
	a, fault := Parse(text)
	if fault != nil {
		return errors.New(fault.Message)
	}
	b, fault := Parse(final)
	if fault != nil {
		return errors.New(fault.Message)
	}
	want := &pg.A_Const{Val: &pg.A_Const_Sval{Sval: &pg.String{Sval: id}}}
	var message func(a, b proto.Message) error
	message = func(a, b proto.Message) error {
		n, ok := a.(*pg.Node)
		if !ok || n.GetParamRef() == nil {
			return compare(a, b, message)
		}
		number := int(n.GetParamRef().Number)
		if number < 1 || number > len(params) || params[number-1].Number != 0 {
			return errors.New("a parameter is not the server's")
		}
		after, ok := b.(*pg.Node)
		if c := after.GetAConst(); !ok || c == nil || !equal(c, want) {
			return errors.New("a parameter became something else")
		}
		return nil
	}
	return message(a, b)
}

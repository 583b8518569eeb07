package constants

import (
	"errors"
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Filling says what Fill puts in the place of a parameter. The zero Filling leaves it.
type Filling struct {
	// Constant has it replaced by a constant of Value.
	Constant bool
	Value    string
	// Type, unless zero, hides what is put there from the planner: it becomes
	// COALESCE((SELECT … ::type)). Without Constant that is the parameter itself, and in the
	// select list of the outermost query, where no condition looks at it, it stays.
	Type tree.TypeName
}

// in gives the filling for one place of a parameter.
func (f Filling) in(results map[int]bool, at int) Filling {
	if !f.Constant && results[at] {
		return Filling{}
	}
	return f
}

// text spells a filling for a parameter.
func (f Filling) text(parameter string) string {
	if f.Constant {
		parameter = constantText(f.Value)
	}
	if f.Type == (tree.TypeName{}) {
		return parameter
	}
	return "(COALESCE((SELECT " + parameter + "::" + lex.Quote(f.Type.Schema) + "." + lex.Quote(f.Type.Name) + ")))"
}

// constantText spells a constant so that it means the same whatever
// standard_conforming_strings is.
func constantText(value string) string {
	if !strings.Contains(value, `\`) {
		return lex.Literal(value)
	}
	return " E" + lex.Literal(strings.ReplaceAll(value, `\`, `\\`))
}

// Filled is a text made by Fill.
type Filled struct {
	Text   string
	places []filledPlace
}

// filledPlace is where a parameter stood in the text that was filled, and how long what stands
// there now is.
type filledPlace struct {
	at             lex.Token
	length, offset int // offset in Text
}

// Fill puts fillings in the places of a text's parameters, $n taking the n-th: a command that
// holds a query takes no parameters, as COPY, or has Postgres plan the query with their values,
// as DECLARE. It is proved: the text, parsed again, is the one before but for these.
func Fill(text string, fillings []Filling) (Filled, *refusal.Refusal) {
	marks, fault := parameters(text)
	if fault != nil {
		return Filled{}, fault
	}
	stmt, fault := tree.Parse(text)
	if fault != nil {
		return Filled{}, fault
	}
	results := map[int]bool{}
	noteResults(queryOf(stmt), results)
	if splits(stmt, fillings, results) {
		return Filled{}, &refusal.Refusal{Code: refusal.ConstructNotAllowed, SQLState: "0A000", Offset: -1,
			Message: "in a DECLARE or COPY an expression with a constant or parameter is not supported in ROLLUP, CUBE and GROUPING SETS; nor is one that calls a function, is grouped or sorted by, and is a part of another expression",
			Hint:    "compute the expression in a sub-query and use its column, or run the query as SELECT"}
	}
	var b strings.Builder
	out := Filled{places: make([]filledPlace, 0, len(marks))}
	done := 0
	for _, m := range marks {
		n := lex.ParamNumber(text[m.Start+1 : m.End])
		if n < 1 || n > len(fillings) || strings.ContainsRune(fillings[n-1].Value, 0) {
			return Filled{}, unfilled(errors.New("a parameter has no value"))
		}
		b.WriteString(text[done:m.Start])
		filling := fillings[n-1].in(results, m.Start).text(text[m.Start:m.End])
		out.places = append(out.places, filledPlace{m, len(filling), b.Len()})
		b.WriteString(filling)
		done = m.End
	}
	b.WriteString(text[done:])
	out.Text = b.String()
	again, fault := tree.Parse(out.Text)
	if fault != nil {
		return Filled{}, tree.TooLarge(fault, unfilled(errors.New(fault.Message)))
	}
	if err := filled(stmt, again, fillings, results); err != nil {
		return Filled{}, unfilled(err)
	}
	return out, nil
}

func unfilled(err error) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.Internal, Offset: -1, Message: "values could not be put into the text: " + err.Error()}
}

// Offset maps a byte offset of Text to one of the text that was filled; false within what was
// put there.
func (f Filled) Offset(at int) (int, bool) {
	shift := 0
	for _, p := range f.places {
		switch {
		case at < p.offset:
			return at + shift, true
		case at < p.offset+p.length:
			return 0, false
		}
		shift = p.at.End - p.offset - p.length
	}
	return at + shift, true
}

// parameters gives the parameters' places in a text, in its order.
func parameters(text string) ([]lex.Token, *refusal.Refusal) {
	list, fault := lex.Scan(text, tree.ParseGuard(), false)
	if fault != nil {
		return nil, fault
	}
	var places []lex.Token
	for _, t := range list {
		if t.Kind == lex.Param {
			places = append(places, t)
		}
	}
	return places, nil
}

// filled proves what Fill says.
func filled(a, b *pg.RawStmt, fillings []Filling, results map[int]bool) error {
	var message func(a, b proto.Message) error
	message = func(a, b proto.Message) error {
		n, ok := a.(*pg.Node)
		if !ok || n.GetParamRef() == nil {
			return tree.Compare(a, b, message)
		}
		after, ok := b.(*pg.Node)
		number := int(n.GetParamRef().Number)
		if !ok || number < 1 || number > len(fillings) {
			return errors.New("a parameter became something else")
		}
		return fillings[number-1].in(results, int(n.GetParamRef().Location)).isIn(after, n)
	}
	return message(a, b)
}

// isIn checks what stands in the place of a parameter.
func (f Filling) isIn(n, parameter *pg.Node) error {
	if f.Type != (tree.TypeName{}) {
		c := n.GetCoalesceExpr()
		if len(c.GetArgs()) != 1 {
			return errors.New("a value is not hidden")
		}
		cast, ok := tree.PlainSubquery(c.Args[0])
		names, named := tree.Strings(cast.GetTypeCast().GetTypeName().GetNames())
		plain := &pg.TypeName{Names: cast.GetTypeCast().GetTypeName().GetNames(), Typemod: -1}
		if !ok || !named || len(names) != 2 || (tree.TypeName{Schema: names[0], Name: names[1]}) != f.Type || !tree.Equal(cast.GetTypeCast().TypeName, plain) {
			return errors.New("a value is not hidden")
		}
		n = cast.GetTypeCast().Arg
	}
	want := parameter
	if f.Constant {
		want = &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Sval{Sval: &pg.String{Sval: f.Value}}}}}
	}
	if !tree.Equal(n, want) {
		return fmt.Errorf("there is %T where a value is expected", n.GetNode())
	}
	return nil
}

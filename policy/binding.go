package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// argPlan says how the caller's arguments become the parameters of the final text.
type argPlan struct {
	dialect  Dialect
	kind     Kind
	column   string          // the scope column's name, for messages
	slots    []int           // for each parameter the position in args; serverSlot; less: a literal of the text
	count    int             // of the args: one for each placeholder that takes one
	scoped   bool            // some placeholder is the server's, so that callers may miscount
	lastIsID bool            // the last placeholder is the server's
	given    []givenArg      // values for a scope column
	inserted []string        // constants that the text gives to a scope column in INSERT
	assigned []string        // the same in SET
	reject   bool            // a foreign id is refused, not replaced
	types    []tree.TypeName // what the server's id is bound as
	again    map[int]int     // how often the text names a parameter beyond once, by its position in args
	maxArgs  int
}

// serverSlot stands for the server's id among the slots; those beneath it are literals of the
// text, the first one next to it.
const serverSlot = -1

// givenArg is a caller's value for a scope column.
type givenArg struct {
	at  int           // its position in args
	typ tree.TypeName // of the column
}

// newArgPlan applies the argument rules of the dialect. It is false where the final text
// asks for a placeholder that takes no arg: never to be seen.
func newArgPlan(tr *lex.Translation, f *facts.Facts, final *facts.Rewritten, d Dialect, section ScopeSection, maxArgs int) (argPlan, bool) {
	p := argPlan{dialect: d, kind: kindOfAccess(f.Kind), column: scopeColumn(f), reject: section.ForeignID == Reject, maxArgs: maxArgs}
	ids := f.ScopeNumbers()
	numbers := numbersOf(tr)
	p.scoped = len(ids) > 0
	p.lastIsID = len(numbers) > 0 && ids[numbers[len(numbers)-1]] != nil
	slot := map[int32]int{}
	for _, n := range numbers {
		switch {
		case d == Postgres: // the position is the number's, whatever is left out before it
			slot[n], p.count = int(n)-1, int(n)
		case p.kind == Insert || ids[n] == nil:
			slot[n] = p.count
			p.count++
		default:
			continue
		}
		if t := ids[n]; t != nil {
			p.given = append(p.given, givenArg{slot[n], t.ScopeType})
		}
	}
	p.noteRepeated(tr, slot)
	literals := 0
	for _, param := range final.Params {
		at, takesArg := slot[param.Number]
		switch {
		case param.IsServer():
			at = serverSlot
			p.types = append(p.types, param.Type)
		case param.Literal != nil:
			literals++
			at = serverSlot - literals
		case !takesArg:
			return argPlan{}, false
		}
		p.slots = append(p.slots, at)
	}
	p.scopeValues(f, slot)
	return p, true
}

// noteRepeated notes how often a text names the same parameter again.
func (p *argPlan) noteRepeated(tr *lex.Translation, slot map[int32]int) {
	seen := map[int]bool{}
	for _, ph := range tr.Placeholders {
		if at, takesArg := slot[int32(ph.Number)]; takesArg && seen[ph.Number] { //nolint:gosec // at most 65,535
			if p.again == nil {
				p.again = map[int]int{}
			}
			p.again[at]++
		}
		seen[ph.Number] = true
	}
}

// mostRepeated bounds the bytes that a text repeats of its arguments. So whatever it makes of them alone stays below the 1 GB at which a
// value of Postgres ends, and such a failure can't depend on which rows a condition is evaluated on.
const mostRepeated = 128 << 20

// checkRepeated refuses arguments that the text repeats too often.
func (p *argPlan) checkRepeated(args []Arg) *Refusal {
	bytes := 0
	for at, times := range p.again {
		bytes += len(args[at].Text) * times
	}
	if bytes <= mostRepeated {
		return nil
	}
	return &Refusal{Code: QueryFailed, SQLState: "54000",
		Message: fmt.Sprintf("the statement repeats %d bytes of its parameters; at most %d are allowed", bytes, mostRepeated),
		Hint:    "name a large parameter once"}
}

// numbersOf gives the numbers of the placeholders, each once and in order.
func numbersOf(tr *lex.Translation) []int32 {
	var numbers []int32
	for _, ph := range tr.Placeholders {
		numbers = append(numbers, int32(ph.Number)) //nolint:gosec // at most 65,535
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// scopeColumn names the scope column of a statement, which is that of its first scoped table.
func scopeColumn(f *facts.Facts) string {
	for _, use := range f.Tables {
		if use.Table != nil && use.Table.Scope != "" {
			return use.Table.Scope
		}
	}
	return ""
}

// scopeValues notes what the caller gives to scope columns, to compare it with the
// server's own id.
func (p *argPlan) scopeValues(f *facts.Facts, slot map[int32]int) {
	note := func(values []facts.ScopeValue, constants *[]string) {
		for _, v := range values {
			at, takesArg := slot[v.Number]
			switch {
			case v.Kind == facts.ScopeConst:
				*constants = append(*constants, v.Const)
			case v.Kind == facts.ScopeParam && takesArg && !p.gives(at):
				p.given = append(p.given, givenArg{at, v.Table.ScopeType})
			}
		}
	}
	for _, ins := range f.Inserts {
		note(ins.Values, &p.inserted)
	}
	note(f.Assigned, &p.assigned)
}

// gives tells whether the arg at a position is a value for a scope column.
func (p *argPlan) gives(at int) bool {
	return slices.ContainsFunc(p.given, func(g givenArg) bool { return g.at == at })
}

// Bind gives the statement for one server with its arguments, by the argument rules of
// its dialect: in that of the interface an INSERT takes an arg for each placeholder, any
// other statement one for each that is not part of a scope condition; in that of Postgres
// there are NumArgs of them. The reason is ArgumentCount or ForeignServerID; QueryFailed for a server
// whose id the scope column's type could take for another's, and for more than 128 MiB of arguments that the text
// repeats; Internal for what Decide did not approve. The args are not copied: they must not be changed while it is in use.
func (a *Approved) Bind(server string, args []Arg) (Bound, *Refusal) {
	if a == nil || a.sql == "" || server == "" {
		return Bound{}, &Refusal{Code: Internal, Message: "nothing was approved"}
	}
	p := &a.plan
	for _, t := range p.types {
		if !canonical(server, t) {
			return Bound{}, &Refusal{Code: QueryFailed, SQLState: "22P02",
				Message: "this server's id can't be stored in the scope column, whose type is " + t.Name,
				Hint:    "make a server with an id that is spelled as the rows have it: the member id over REST, or --id of tenantgate server create"}
		}
	}
	if reason := p.checkCount(server, args); reason != nil {
		return Bound{}, reason
	}
	if reason := p.checkRepeated(args); reason != nil {
		return Bound{}, reason
	}
	overridden, reason := p.compare(server, args)
	if reason != nil {
		return Bound{}, reason
	}
	b := Bound{approved: a, server: server, args: args, overridden: overridden}
	if b.NeedsFill() {
		return b, nil
	}
	b.filled = a.counts.Fill(func(number int) (string, bool) { return b.count(number - 1) })
	return b, nil
}

// mostCount is the largest number of a LIMIT or an OFFSET that the planner is given. Each number makes a text of its
// own, which Postgres parses and plans anew: pages have few numbers, and small ones.
const mostCount = 10_000

// count gives the number that a parameter of LIMIT or OFFSET carries, if the planner may have it
// as a constant. It is spelled in one way: '020' makes no other text than '20'. One that is negative
// is Postgres' to refuse.
func (b Bound) count(param int) (string, bool) {
	v := b.Param(param).Value
	text := v.Text
	if v.Kind == Binary {
		text, _ = integerText(v.Text)
	}
	number, err := strconv.ParseUint(text, 10, 32)
	return strconv.FormatUint(number, 10), err == nil && number <= mostCount && (v.Kind == Number || v.Kind == String || v.Kind == Binary)
}

// checkCount compares the number of args with that of the placeholders. UPDATE and
// DELETE may bring the server's id as one more, the last.
func (p *argPlan) checkCount(server string, args []Arg) *Refusal {
	extra := len(args) - p.count
	switch {
	case len(args) > p.maxArgs:
		return &Refusal{Code: ArgumentCount, Message: fmt.Sprintf("got %d args; at most %d are allowed", len(args), p.maxArgs)}
	case extra == 0:
		return nil
	case p.dialect == REST && extra == 1 && (p.kind == Update || p.kind == Delete):
		if last := args[len(args)-1]; p.lastIsID || isID(last, server) {
			return nil
		}
	}
	return &Refusal{Code: ArgumentCount, Hint: p.countHint(extra),
		Message: fmt.Sprintf("the statement takes %s, got %d", plural(p.count), len(args))}
}

func (p *argPlan) countHint(extra int) string {
	switch {
	case p.dialect == Postgres:
		return "each of $1 to the highest $n takes one"
	case p.kind == Select && extra > 0 && p.scoped:
		return "args of a SELECT must not contain " + p.column + ": the service supplies it"
	case p.kind == Insert:
		return "args of an INSERT hold one value for each placeholder, those of the scope column among them"
	case extra == 1 && (p.kind == Update || p.kind == Delete):
		return p.column + " may be given as the last arg only where its placeholder is the last one: leave it out"
	case p.scoped:
		return "the placeholder of " + p.column + " = ? takes no arg in WHERE and in the ON of an inner join, where the service supplies it; each other one takes one"
	}
	return ""
}

func plural(n int) string {
	if n == 1 {
		return "1 arg"
	}
	return fmt.Sprintf("%d args", n)
}

// compare counts the values for the scope column that are not the server's own, or
// refuses them where the policy says so. A foreign constant in an INSERT is refused
// always: unlike a placeholder it can't have been meant for this server.
func (p *argPlan) compare(server string, args []Arg) (overridden int, reason *Refusal) {
	for _, c := range p.inserted {
		if c != server {
			return 0, p.foreign(-1)
		}
	}
	for _, c := range p.assigned {
		if c != server {
			overridden++
		}
	}
	for _, g := range p.given {
		if isIDOf(args[g.at], server, g.typ) {
			continue
		}
		if overridden++; p.reject {
			return 0, p.foreign(g.at)
		}
	}
	if overridden > 0 && p.reject {
		return 0, p.foreign(-1)
	}
	if len(args) > p.count && !isID(args[len(args)-1], server) {
		overridden++
	}
	return overridden, nil
}

// foreign refuses the arg at a position, or a constant for -1.
func (p *argPlan) foreign(at int) *Refusal {
	r := &Refusal{Code: ForeignServerID, Message: p.column + " must be the id of this server", Hint: "give the server's own id, or a placeholder"}
	if at >= 0 {
		arg := fmt.Sprintf("args[%d]", at)
		if p.dialect == Postgres {
			arg = fmt.Sprintf("$%d", at+1)
		}
		r.Message = arg + " is given to " + p.column + ", which must be the id of this server"
		r.Hint = "give the server's own id"
	}
	return r
}

package policy

import (
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/policy/sqltree"
)

// argPlan says how the caller's arguments become the parameters of the final text.
type argPlan struct {
	kind     Kind
	column   string             // the scope column's name, for messages
	slots    []int              // for each parameter the position in args; -1: the server's id
	count    int                // of the placeholders that take an arg
	scoped   bool               // some placeholder is the server's, so that callers may miscount
	lastIsID bool               // the last placeholder is the server's
	given    []int              // positions in args of values for a scope column
	inserted []string           // constants that the text gives to a scope column in INSERT
	assigned []string           // the same in SET
	reject   bool               // a foreign id is refused, not replaced
	types    []sqltree.TypeName // what the server's id is bound as
	maxArgs  int
}

// newArgPlan applies the argument rules of the interface. In an INSERT each
// placeholder takes an arg, elsewhere each that is not part of a scope condition. It is
// false where the final text asks for a placeholder that takes none: never to be seen.
func newArgPlan(tr *sqltree.Translation, f *sqltree.Facts, final *sqltree.Rewritten, reject bool, maxArgs int) (argPlan, bool) {
	p := argPlan{kind: kindOfAccess(f.Kind), column: scopeColumn(f), reject: reject, maxArgs: maxArgs}
	ids := f.ScopeNumbers()
	var numbers []int32
	for _, ph := range tr.Placeholders {
		n := int32(ph.Number) //nolint:gosec // at most 65,535
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	p.scoped = len(ids) > 0
	p.lastIsID = len(numbers) > 0 && ids[numbers[len(numbers)-1]]
	slot := map[int32]int{}
	for _, n := range numbers {
		if p.kind == Insert || !ids[n] {
			slot[n] = p.count
			p.count++
		}
		if p.kind == Insert && ids[n] {
			p.given = append(p.given, slot[n])
		}
	}
	for _, param := range final.Params {
		at, takesArg := slot[param.Number]
		switch {
		case param.Number == 0:
			at = -1
			p.types = append(p.types, param.Type)
		case !takesArg:
			return argPlan{}, false
		}
		p.slots = append(p.slots, at)
	}
	p.scopeValues(f, slot)
	return p, true
}

// scopeColumn names the scope column of a statement, which is that of its first scoped table.
func scopeColumn(f *sqltree.Facts) string {
	for _, use := range f.Tables {
		if use.Table != nil && use.Table.Scope != "" {
			return use.Table.Scope
		}
	}
	return ""
}

// scopeValues notes what the caller gives to scope columns, to compare it with the
// server's own id.
func (p *argPlan) scopeValues(f *sqltree.Facts, slot map[int32]int) {
	note := func(values []sqltree.ScopeValue, constants *[]string) {
		for _, v := range values {
			at, takesArg := slot[v.Number]
			switch {
			case v.Kind == sqltree.ScopeConst:
				*constants = append(*constants, v.Const)
			case v.Kind == sqltree.ScopeParam && takesArg && !slices.Contains(p.given, at):
				p.given = append(p.given, at)
			}
		}
	}
	for _, ins := range f.Inserts {
		note(ins.Values, &p.inserted)
	}
	note(f.Assigned, &p.assigned)
}

// Bind gives the statement for one server with its arguments, by the argument rules of
// the interface. The reason is ArgumentCount or ForeignServerID; QueryFailed for a server
// whose id the scope column's type could take for another's; Internal for what Decide did
// not approve. The args are not copied: they must not be changed while it is in use.
func (a *Approved) Bind(server string, args []Arg) (Bound, *Reason) {
	if a == nil || a.sql == "" || server == "" {
		return Bound{}, &Reason{Code: Internal, Message: "nothing was approved"}
	}
	p := &a.plan
	for _, t := range p.types {
		if !canonical(server, t) {
			return Bound{}, &Reason{Code: QueryFailed, SQLState: "22P02",
				Message: "this server's id is not what the scope column's type " + t.Name + " calls the same value"}
		}
	}
	if reason := p.checkCount(server, args); reason != nil {
		return Bound{}, reason
	}
	overridden, reason := p.compare(server, args)
	if reason != nil {
		return Bound{}, reason
	}
	return Bound{approved: a, server: server, args: args, overridden: overridden}, nil
}

// checkCount compares the number of args with that of the placeholders. UPDATE and
// DELETE may bring the server's id as one more, the last.
func (p *argPlan) checkCount(server string, args []Arg) *Reason {
	extra := len(args) - p.count
	switch {
	case len(args) > p.maxArgs:
		return &Reason{Code: ArgumentCount, Message: fmt.Sprintf("got %d args; at most %d are allowed", len(args), p.maxArgs)}
	case extra == 0:
		return nil
	case extra == 1 && (p.kind == Update || p.kind == Delete):
		if last := args[len(args)-1]; p.lastIsID || isID(last, server) {
			return nil
		}
	}
	return &Reason{Code: ArgumentCount, Hint: p.countHint(extra),
		Message: fmt.Sprintf("the statement takes %s, got %d", plural(p.count), len(args))}
}

func (p *argPlan) countHint(extra int) string {
	switch {
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
func (p *argPlan) compare(server string, args []Arg) (overridden int, reason *Reason) {
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
	for _, at := range p.given {
		if isID(args[at], server) {
			continue
		}
		if overridden++; p.reject {
			return 0, p.foreign(at)
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
func (p *argPlan) foreign(at int) *Reason {
	r := &Reason{Code: ForeignServerID, Message: p.column + " must be the id of this server", Hint: "give the server's own id, or a placeholder"}
	if at >= 0 {
		r.Message = fmt.Sprintf("args[%d] is given to %s, which must be the id of this server", at, p.column)
		r.Hint = "give the server's own id"
	}
	return r
}

func isID(a Arg, server string) bool {
	return (a.Kind == String || a.Kind == Number) && a.Text == server
}

package policy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// GivenTypes are the OIDs of the types that a client gives its parameters, from $1; 0 and
// missing ones are Postgres' to find. What a statement means depends on them: to compare a
// date with a timestamp converts the one, which may fail. So a statement is decided with them.
type GivenTypes []uint32

// normal gives the types as they are compared: without those at the end that say nothing.
// The result shares the memory of the types where it can.
func (g GivenTypes) normal() GivenTypes {
	end := len(g)
	for end > 0 && (g[end-1] == 0 || g[end-1] == unknownOID) {
		end--
	}
	g = g[:end:end]
	if slices.Contains(g, unknownOID) {
		g = slices.Clone(g)
		for i, oid := range g {
			if oid == unknownOID {
				g[i] = 0
			}
		}
	}
	return g
}

// Key spells the types so that equal ones have equal keys; "" for none.
func (g GivenTypes) Key() string {
	g = g.normal()
	if len(g) == 0 {
		return ""
	}
	key := make([]byte, 0, 4*len(g))
	for _, oid := range g {
		key = binary.BigEndian.AppendUint32(key, oid)
	}
	return string(key)
}

// named gives the types by their names, or why they can't be named.
func (p *Policy) named(g GivenTypes) ([]tree.TypeName, *refusal.Refusal) {
	if len(g) > p.limits.MaxArgs {
		return nil, &refusal.Refusal{Code: ArgumentCount, Offset: -1, Message: fmt.Sprintf("types of %d parameters are given; at most %d are allowed", len(g), p.limits.MaxArgs)}
	}
	names := make([]tree.TypeName, len(g))
	for i, oid := range g {
		if oid == 0 {
			continue
		}
		name, ok := p.typeOf(oid)
		if !ok {
			return nil, unnamed(i, oid, builtinTypes[oid])
		}
		names[i] = name
	}
	return names, nil
}

// typeOf gives the type of an OID, if a parameter may be given it.
func (p *Policy) typeOf(oid uint32) (tree.TypeName, bool) {
	if own, ok := p.given[oid]; ok {
		return tree.TypeName(own.Type), true
	}
	name := tree.TypeName{Schema: builtinSchema, Name: builtinTypes[oid]}
	return name, p.types[tree.TypeName{Schema: builtinSchema, Name: strings.TrimPrefix(name.Name, "_")}]
}

func unnamed(i int, oid uint32, name string) *refusal.Refusal {
	if name == "" {
		name = fmt.Sprintf("with OID %d", oid)
	}
	return &refusal.Refusal{Code: TypeNotAllowed, Offset: -1, Message: fmt.Sprintf("type %s, given to $%d, is not available", name, i+1),
		Hint: "built-in data types and those of the policy's tables may be given; without one Postgres finds the type"}
}

// declare makes what Declared and Key give.
func (a *Approved) declare() {
	for i := range a.NumParams() {
		oid := a.declaredType(a.ArgOf(i))
		if oid == 0 && slices.Contains(a.counts.Numbers(), i+1) {
			oid = int8OID // as Postgres finds it; once a constant stands there, it finds none
		}
		if oid == 0 {
			continue
		}
		if a.declared == nil {
			a.declared = make([]uint32, a.NumParams())
		}
		a.declared[i] = oid
	}
	if a.declared != nil {
		a.key = a.sql + "\x00" + a.declared.Key() // no text holds a NUL
	}
}

// declaredType gives the type that is declared for what has a slot; 0 for none.
func (a *Approved) declaredType(slot int) uint32 {
	switch {
	case slot < serverSlot:
		return a.literals[serverSlot-1-slot].Type
	case slot >= 0 && slot < len(a.types):
		return a.types[slot]
	}
	return 0
}

// literalBytes is about what literals keep in memory.
func literalBytes(list []facts.LiteralParam) int {
	n := 64 * len(list)
	for _, l := range list {
		n += len(l.Value)
	}
	return n
}

// Declared are the types by which the statement was decided, in the order of the final text's
// parameters: they, and no others, are declared to Postgres wherever it is parsed. nil where
// there are none. Shared; not to be changed.
func (a *Approved) Declared() GivenTypes {
	if a.inline { // it has no parameters any more
		return nil
	}
	return a.declared
}

// Key tells the final text with its declared types from every other.
func (a *Approved) Key() string {
	if a.declared == nil {
		return a.sql
	}
	return a.key
}

// ArgType gives the OID of the type that a caller is to be told for one of its args, from 0,
// that no parameter carries, so that Postgres can't tell it: the one that the client gave it,
// or the scope column's, for a value that the server's id replaces. It is 0 for an arg that
// some parameter carries, and for a number that the text leaves out, of which Postgres would
// say that it could not determine its type.
func (a *Approved) ArgType(i int) uint32 {
	if slices.Contains(a.plan.slots, i) {
		return 0
	}
	if i < len(a.types) && a.types[i] != 0 {
		return a.types[i]
	}
	for _, g := range a.plan.given {
		if g.at == i {
			return scopeOIDs[g.typ.Name]
		}
	}
	return 0
}

// scopeOIDs are the types that a scope column can have. citext has no OID that is the same
// everywhere: it is told as text.
var scopeOIDs = map[string]uint32{"text": 25, "citext": 25, "varchar": 1043, "bpchar": 1042, "uuid": 2950, "int2": 21, "int4": 23, "int8": 20}

package policy

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/constants"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Postgres plans the query of a DECLARE with the values of its parameters, whatever
// plan_cache_mode is, and COPY has no parameters at all. So that the planner does not see what a
// caller chose, each value stands in such a text as COALESCE((SELECT value::type)). The types are
// those that Postgres finds for the query by itself: the query is described first.

// Query is the query that a command holds, where it has to be described before the command can
// be bound to its values; nil where the command needs no description.
func (a *Approved) Query() *Approved { return a.query }

// NeedsFill tells whether the statement can't run before Fill.
func (b Bound) NeedsFill() bool {
	return (b.approved.query != nil || b.approved.inline) && b.filled.Text == ""
}

// Fill puts what its parameters carry into a command, which can run then. It parses the text twice. types are the
// OIDs of the parameters of Approved.Query, as Postgres describes them; none where that is nil. The reason is
// TypeNotAllowed for a type that has no name here, and ConstructNotAllowed for a text that becomes too long.
func (b Bound) Fill(types []uint32) (Bound, *Refusal) {
	a := b.approved
	if a.query != nil && len(types) != len(a.plan.slots) {
		return Bound{}, &Refusal{Code: Internal, Message: "the parameters of the command's query are not those that Postgres describes"}
	}
	fillings := make([]constants.Filling, len(a.plan.slots))
	for i, slot := range a.plan.slots {
		fillings[i] = a.serverFilling(b.server)
		if slot == serverSlot || a.query == nil { // then all are the server's
			continue
		}
		if text, ok := b.count(i); ok && slices.Contains(a.counts.Numbers(), i+1) {
			fillings[i] = constants.Filling{Constant: true, Value: text}
			continue
		}
		name, ok := a.typeName(types[i])
		if !ok {
			return Bound{}, &Refusal{Code: TypeNotAllowed, Message: "a value of this command has a type that is not available", Hint: "cast it to a built-in type"}
		}
		fillings[i] = constants.Filling{Type: name}
		if a.inline {
			fillings[i].Constant, fillings[i].Value = true, b.Param(i).Value.Text
		}
	}
	return b.filledWith(fillings)
}

// serverFilling is what stands in the place of the server's id: the planner may see it.
func (a *Approved) serverFilling(server string) constants.Filling {
	if !a.inline {
		return constants.Filling{}
	}
	return constants.Filling{Constant: true, Value: server}
}

// filledWith puts fillings into the text.
func (b Bound) filledWith(fillings []constants.Filling) (Bound, *Refusal) {
	var fault *refusal.Refusal
	if b.filled, fault = constants.Fill(b.approved.sql, fillings); fault != nil {
		return Bound{}, &Refusal{Code: fault.Code, SQLState: fault.SQLState, Message: fault.Message, Hint: fault.Hint}
	}
	return b, nil
}

// typeName gives the name of a type that a parameter has. A domain has its own: it may be over an interval that names its fields.
func (a *Approved) typeName(oid uint32) (tree.TypeName, bool) {
	if name := builtinTypes[oid]; name != "" {
		return tree.TypeName{Schema: builtinSchema, Name: name}, true
	}
	given, ok := a.given[oid]
	if given.Domain != (Type{}) {
		return tree.TypeName(given.Domain), ok
	}
	return tree.TypeName(given.Type), ok
}

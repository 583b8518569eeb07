package policy

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// rule judges the facts of a statement by the policy; nil admits.
type rule func(*facts.Facts) *refusal.Refusal

// rules are the policy's checks, in the order in which they refuse.
func (p *Policy) rules(d Dialect) []rule {
	return []rule{
		p.checkKinds, p.checkTables, p.checkFunctions, p.checkOperators, p.checkTypes, p.checkColumns,
		func(f *facts.Facts) *refusal.Refusal { return p.checkScope(f, d) },
		func(f *facts.Facts) *refusal.Refusal { return p.checkScopeValues(f, d) },
	}
}

// judge gives the first refusal of the rules; nil where all admit.
func (p *Policy) judge(f *facts.Facts, d Dialect) *refusal.Refusal {
	for _, rule := range p.rules(d) {
		if fault := rule(f); fault != nil {
			return fault
		}
	}
	return nil
}

// checkKinds admits the kinds that the policy lists, in WITH as at the top. Locking
// rows is for those who may change them.
func (p *Policy) checkKinds(f *facts.Facts) *refusal.Refusal {
	missing := f.Kinds &^ p.kinds
	if missing == 0 && (!f.Locks || p.kinds&(facts.AccessUpdate|facts.AccessDelete) != 0) {
		return nil
	}
	message := "the policy does not allow " + named(missing)
	if missing == 0 {
		message = "the policy allows no row locks, since it allows neither UPDATE nor DELETE"
	}
	hint := "it allows " + named(p.kinds)
	if p.kinds == 0 {
		hint = "it allows no statements: its statement.kinds is empty"
	}
	return &refusal.Refusal{Code: StatementNotAllowed, Message: message, Offset: -1, Hint: hint}
}

// named lists accesses as SQL calls them.
func named(all facts.Access) string {
	var words []string
	for _, one := range []facts.Access{facts.AccessSelect, facts.AccessInsert, facts.AccessUpdate, facts.AccessDelete} {
		if all&one != 0 {
			words = append(words, strings.ToUpper(string(kindOfAccess(one))))
		}
	}
	return strings.Join(words, ", ")
}

// checkTables admits references to the policy's tables, each for what it lists.
func (p *Policy) checkTables(f *facts.Facts) *refusal.Refusal {
	for _, use := range f.Tables {
		have := p.access[use.Table]
		if use.Table == nil || have == 0 {
			return &refusal.Refusal{Code: TableNotAllowed, Message: "table " + use.Name + " is not available", Offset: use.Offset,
				Hint: p.catalog.Listed()}
		}
		if found := p.closed[use.Table]; found != nil {
			return &refusal.Refusal{Code: TableNotAllowed, Message: "table " + use.Name + " is closed: " + found.Name, Offset: use.Offset, Hint: found.remedy()}
		}
		if use.Access&^have != 0 {
			return &refusal.Refusal{Code: TableNotAllowed, Message: "the policy does not allow " + named(use.Access&^have) + " on table " + use.Name,
				Offset: use.Offset, Hint: "it allows " + named(have)}
		}
	}
	return nil
}

func (p *Policy) checkFunctions(f *facts.Facts) *refusal.Refusal {
	for _, use := range f.Functions {
		if !admits(use, p.functions, p.catalog.FunctionSchema) {
			return &refusal.Refusal{Code: FunctionNotAllowed, Message: "function " + use.String() + " is not available", Offset: use.Offset,
				Hint: p.functionHint(use)}
		}
		if why := p.namesakes[use.Name]; why != "" && use.Schema == "" && p.catalog.FunctionSchema(use.Name) == "" {
			return ambiguous(FunctionNotAllowed, "function", use, "pg_catalog."+use.Name, why)
		}
	}
	return nil
}

// callsUnjudged tells whether a statement may run a function that nobody has judged: it calls it, or uses its operator.
func (p *Policy) callsUnjudged(f *facts.Facts) bool {
	call := func(use tree.NameUse) bool { return p.catalog.UnjudgedCall(use.Schema, use.Name) }
	operator := func(use tree.NameUse) bool { return use.Schema == "" && p.catalog.UnjudgedOperator(use.Name) }
	return slices.ContainsFunc(f.Functions, call) || slices.ContainsFunc(f.Operators, operator) || slices.ContainsFunc(tree.Comparisons(), p.catalog.UnjudgedOperator)
}

func (p *Policy) checkOperators(f *facts.Facts) *refusal.Refusal {
	for _, use := range f.Operators {
		if !p.operators[use.Name] {
			return &refusal.Refusal{Code: ConstructNotAllowed, Message: "operator " + use.Name + " is not available", Offset: use.Offset,
				Hint: "the built-in operators may be used"}
		}
		if why := p.namesakes[use.Name]; why != "" && use.Schema == "" {
			return ambiguous(ConstructNotAllowed, "operator", use, "OPERATOR(pg_catalog."+use.Name+")", why)
		}
	}
	return nil
}

// ambiguous refuses a bare name that means pg_catalog's here and may mean another one's to the application.
func ambiguous(code Code, what string, use tree.NameUse, instead, why string) *refusal.Refusal {
	return &refusal.Refusal{Code: code, Message: what + " " + use.Name + " is not available under this name: " + why, Offset: use.Offset,
		Hint: "write " + instead + " for the built-in one"}
}

func (p *Policy) checkTypes(f *facts.Facts) *refusal.Refusal {
	for _, use := range f.Types {
		if !admits(use, p.types, p.catalog.TypeSchema) {
			return &refusal.Refusal{Code: TypeNotAllowed, Message: "type " + use.String() + " is not available", Offset: use.Offset,
				Hint: p.typeHint(use)}
		}
	}
	return nil
}

// admits looks a name up in an allow-list; a bare one is pg_catalog's, or where the
// list has none such, the one that the catalog qualifies it to.
func admits(use tree.NameUse, list map[tree.TypeName]bool, schemaOf func(name string) string) bool {
	if use.Schema != "" {
		return list[tree.TypeName{Schema: use.Schema, Name: use.Name}]
	}
	own := schemaOf(use.Name)
	return list[tree.TypeName{Schema: builtinSchema, Name: use.Name}] || own != "" && list[tree.TypeName{Schema: own, Name: use.Name}]
}

// checkScope asks for the scope condition where the policy's mode wants it.
func (p *Policy) checkScope(f *facts.Facts, d Dialect) *refusal.Refusal {
	given := false
	for _, l := range f.Levels {
		given = given || len(l.Conditions) > 0 && len(l.Scoped) > 0
	}
	for _, l := range f.Levels {
		isUpsert := len(l.Scoped) == 0
		if p.file.Scope.Mode == Inject || len(l.Conditions) > 0 || isUpsert || p.file.Scope.Mode == Once && given {
			continue
		}
		table := l.Scoped[0].Table
		return &refusal.Refusal{Code: MissingServerScope, Offset: l.Offset,
			Message: "a query on " + table.Name + " must have the condition " + table.Scope + " = " + d.placeholder() + " in its WHERE",
			Hint:    "join it to the other conditions with AND, in every sub-query too (the ON of an outer join does not count); its value is " + d.suppliedBy()}
	}
	return nil
}

// checkScopeValues asks that an INSERT gives the scope column by name, and that what is given to it, there and in SET, can
// be replaced by the server's id: a placeholder, a string or a column can, and DEFAULT where the policy injects; any other
// expression (ScopeOther) can't. Whether another server's id is replaced or refused is the policy's foreignServerId, which Bind looks at.
func (p *Policy) checkScopeValues(f *facts.Facts, d Dialect) *refusal.Refusal {
	inject := p.file.Scope.Mode == Inject
	for _, ins := range f.Inserts {
		if !inject && !(ins.Named && ins.Listed) {
			return &refusal.Refusal{Code: MissingServerScope, Offset: ins.Offset,
				Message: "an INSERT into " + ins.Table.Name + " must name the column " + ins.Table.Scope,
				Hint:    "list the columns, " + ins.Table.Scope + " among them, and give it a placeholder or the server's own id"}
		}
		for _, v := range ins.Values {
			if v.Kind == facts.ScopeOther || v.Kind == facts.ScopeDefault && !inject {
				return unscopedInsert(ins, v, d)
			}
		}
	}
	for _, v := range f.Assigned {
		if v.Kind == facts.ScopeOther {
			return unscopedValue(v, d)
		}
	}
	return nil
}

// unscopedInsert is unscopedValue for an INSERT. One that names no columns gives a value to the scope column too, which
// its author may not have meant. Where the policy does not inject the column, checkScopeValues refuses such an INSERT.
func unscopedInsert(ins *facts.Insert, v facts.ScopeValue, d Dialect) *refusal.Refusal {
	fault := unscopedValue(v, d)
	if !ins.Named {
		fault.Hint = "name the columns and leave " + v.Table.Scope + " out, because it is added"
	}
	return fault
}

func unscopedValue(v facts.ScopeValue, d Dialect) *refusal.Refusal {
	return &refusal.Refusal{Code: MissingServerScope, Offset: v.Offset,
		Message: "the value of " + v.Table.Scope + " must be a placeholder", Hint: "give " + v.Table.Scope + " a plain " + d.placeholder()}
}

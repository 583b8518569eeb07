package analyze

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// A backend of Postgres' keeps every time zone that it was ever asked for, 24 KB each, until
// its end. Those that have a file are some hundred. Those in POSIX' notation, a name with an
// offset such as A1 or <x>-3:17, are as many as somebody makes up.

// zoneAt is which argument of a function of pg_catalog is a time zone by its name, counted
// from 0, where it has so many.
var zoneAt = map[string]int{"timezone": 0, "date_trunc": 2, "make_timestamptz": 6, "generate_series": 3, "date_add": 2, "date_subtract": 2}

// momentTypes are the types of pg_catalog whose input from a text reads time zones.
var momentTypes = map[string]bool{
	"date": true, "time": true, "timetz": true, "timestamp": true, "timestamptz": true,
	"daterange": true, "tsrange": true, "tstzrange": true, "datemultirange": true, "tsmultirange": true, "tstzmultirange": true,
}

// momentCalls are the functions of pg_catalog, all overloads of each, that give a date or time.
var momentCalls = map[string]bool{
	"date_trunc": true, "date_bin": true, "timezone": true, "to_timestamp": true, "to_date": true,
	"make_date": true, "make_time": true, "make_timestamp": true, "make_timestamptz": true, "date_add": true, "date_subtract": true,
}

// textual are the types that a cast to one of momentTypes reads as texts.
var textual = map[string]bool{"text": true, "bpchar": true, "varchar": true, "name": true, "char": true, "citext": true}

// SpellsZone tells whether a text may hold a time zone in POSIX' notation, as the input of
// dates and times reads texts: a word in which a digit comes behind a letter, and before it
// something of a date.
func SpellsZone(text string) bool {
	dated, lettered, looked := false, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case lex.IsDigit(c):
			if lettered && !dated && !looked {
				dated, looked = hasMoment(text), true
			}
			if lettered && dated {
				return true
			}
			dated = dated || !lettered
		case isT(text, i):
		case 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80:
			lettered = true
		case strings.IndexByte("+-/_.:", c) < 0:
			lettered = false
		}
	}
	return false
}

// isT tells the T of 2024-07-01T12:00.
func isT(text string, i int) bool {
	return text[i]|0x20 == 't' && i > 0 && lex.IsDigit(text[i-1]) && i+1 < len(text) && lex.IsDigit(text[i+1])
}

// hasMoment tells whether a text holds a word that is a date by itself.
func hasMoment(text string) bool {
	for i := range len(text) {
		switch text[i] | 0x20 {
		case 'n', 't', 'y', 'e':
			for _, word := range [...]string{"now", "today", "tomorrow", "yesterday", "epoch"} {
				if rest := text[i:]; len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
					return true
				}
			}
		}
	}
	return false
}

// zones tells whether some part of a tree may make time zones out of what is no constant, or
// out of constants that spell one.
func (a *analyzer) zones(m proto.Message) bool {
	switch n := m.(type) {
	case *pg.A_Const:
		return SpellsZone(n.GetSval().GetSval())
	case *pg.FuncCall:
		if a.zonesOfCall(n) {
			return true
		}
	case *pg.TypeCast:
		if !a.reads(n.TypeName) {
			return n.Arg.GetAConst() == nil && a.zones(n.Arg)
		}
		return !a.holdsMoments(n.Arg) || a.zones(n.Arg)
	case *pg.A_Expr:
		return a.zonesOfOperands(n)
	case *pg.TypeName:
		return a.reads(n)
	}
	return tree.AnyChild(m, a.zones)
}

// zonesOfOperands judges an operator's operands: a constant that is compared with a text or a
// UUID is one, too.
func (a *analyzer) zonesOfOperands(e *pg.A_Expr) bool {
	compares := e.Kind == pg.A_Expr_Kind_AEXPR_OP && tree.IsComparison(tree.LastName(e.Name))
	plain := func(n, other *pg.Node) bool {
		t, known := a.types.TypeOf(other)
		return compares && n.GetAConst() != nil && known && types.Closed[t]
	}
	return e.Lexpr != nil && !plain(e.Lexpr, e.Rexpr) && a.zones(e.Lexpr) || e.Rexpr != nil && !plain(e.Rexpr, e.Lexpr) && a.zones(e.Rexpr)
}

// reads tells whether the input of a type may read time zones: a type that is not Postgres'
// own may be made of one that does.
func (a *analyzer) reads(t *pg.TypeName) bool {
	name := a.types.CatalogType(t)
	return name == "" || momentTypes[name]
}

// holdsMoments tells an expression that is no text when it is cast to a date or time. What a
// placeholder takes is looked at when it is bound.
func (a *analyzer) holdsMoments(n *pg.Node) bool {
	if list := n.GetAArrayExpr(); list != nil {
		for _, e := range list.Elements {
			if !a.holdsMoments(e) {
				return false
			}
		}
		return true
	}
	if f := n.GetFuncCall(); f != nil && momentCalls[a.types.CatalogCall(f)] {
		return true
	}
	t, known := a.types.TypeOf(n)
	return known && !textual[t]
}

// zonesOfCall judges a call: by its zone, as a cast, and by what it makes of JSON. A function
// that is not Postgres' own may do anything.
func (a *analyzer) zonesOfCall(f *pg.FuncCall) bool {
	names, ok := tree.Strings(f.Funcname)
	if !ok || len(names) == 0 {
		return true
	}
	name := names[len(names)-1]
	if a.catalog.UnjudgedCall(strings.Join(names[:len(names)-1], "."), name) {
		return true
	}
	if momentTypes[name] && len(f.Args) == 1 { // a cast, written as a call
		return !a.holdsMoments(f.Args[0])
	}
	at, takes := zoneAt[name]
	switch {
	case strings.Contains(name, "_populate_record"):
		return true
	case !takes || len(f.Args) <= at || name == "timezone" && len(f.Args) < 2:
		return false
	}
	return !a.harmlessZone(f.Args[at])
}

// harmlessZone tells a zone that is an interval, or a constant in no POSIX notation: that has
// an offset.
func (a *analyzer) harmlessZone(n *pg.Node) bool {
	if s := n.GetAConst().GetSval(); s != nil {
		return !strings.ContainsAny(s.Sval, "0123456789")
	}
	t, known := a.types.TypeOf(n)
	return known && t == "interval"
}

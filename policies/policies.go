// Package policies embeds the bundled policy files and the names that they can refer to: the sets of
// functions of pg_catalog, and the types and operators that a statement may name. It is
// data; package policy interprets it and never imports this one. README.md is for authors of
// policies, and says how the sets are generated.
package policies

import (
	"embed"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

//go:embed *.yaml sets/*.txt
var files embed.FS

// Default is the name of the policy of servers that have none assigned.
const Default = "default"

const (
	policySuffix  = ".yaml"
	setFolder     = "sets/"
	setSuffix     = ".txt"
	typesFile     = "sets/builtin-types.txt"
	operatorsFile = "sets/builtin-operators.txt"
	leakproofFile = "sets/builtin-leakproof.txt"
	extensionFile = "sets/extensions.txt"
)

// Named gives the text of a shipped policy; false when there is none of that name. The
// caller owns the bytes.
func Named(name string) ([]byte, bool) {
	src, err := files.ReadFile(name + policySuffix)
	return src, err == nil
}

// Names lists the shipped policies, sorted.
func Names() []string {
	return list(".", policySuffix)
}

// Sets gives the function sets by the names that a policy file has for them, such as
// @builtin-safe. Their members are bare names of functions in pg_catalog, sorted; all
// overloads of a name are meant. The caller owns the map.
func Sets() map[string][]string {
	sets := map[string][]string{}
	for _, name := range list("sets", setSuffix) {
		switch path := setFolder + name + setSuffix; path {
		case typesFile, operatorsFile, leakproofFile, extensionFile:
		default:
			sets["@"+name] = lines(path)
		}
	}
	return sets
}

// Types gives the types of pg_catalog that a statement may name, as pg_type spells them
// (int4, timestamptz), sorted. An array type is admitted by its element.
func Types() []string {
	return lines(typesFile)
}

// Operators gives the operators of pg_catalog that a statement may use, by name, sorted;
// all overloads of a name are meant.
func Operators() []string {
	return lines(operatorsFile)
}

// Extensions gives the extensions whose functions and operators that bear names of pg_catalog's
// compute on their operands alone, sorted.
func Extensions() []string {
	return lines(extensionFile)
}

// Leakproof gives the operators of pg_catalog that tell nothing of their operands but by
// the result, between types that a statement may name.
func Leakproof() []policy.Operator {
	all := lines(leakproofFile)
	list := make([]policy.Operator, 0, len(all))
	for _, line := range all {
		words := strings.Fields(line)
		if len(words) != 3 {
			panic("policies: " + leakproofFile + " holds the line " + line) // the file is part of the program
		}
		list = append(list, policy.Operator{Name: words[0], Left: strings.TrimPrefix(words[1], "-"), Right: words[2]})
	}
	return list
}

func list(folder, suffix string) []string {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic("policies: " + err.Error()) // the files are part of the program
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// lines gives the lines of a set without the comment at its head.
func lines(path string) []string {
	text, err := files.ReadFile(path)
	if err != nil {
		panic("policies: " + err.Error()) // the files are part of the program
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	head := slices.IndexFunc(all, func(l string) bool { return !strings.HasPrefix(l, "#") })
	return all[max(head, 0):]
}

// House prints what makes the code hard to read, as figures: the lines of the packages that are
// in the binary, how many different signatures the commonest names of functions have, how often
// a type's name is used, and the largest structs. Run it from the repository's root:
//
//	go run ./proof/house
package main

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const binary = "./cmd/tenantgate"

// house is what was counted. The keys of functions and kinds are names.
type house struct {
	lines     map[string]int                 // by package
	functions map[string]map[string][]string // the places of each signature
	kinds     map[string][]string            // the packages that define a type
	fields    map[string]int                 // by struct
}

func main() {
	h := house{map[string]int{}, map[string]map[string][]string{}, map[string][]string{}, map[string]int{}}
	dirs, err := shipped()
	if err != nil {
		log.Fatal(err)
	}
	for _, dir := range dirs {
		if err := h.read(dir); err != nil {
			log.Fatal(err)
		}
	}
	h.print()
}

// shipped lists the folders of this module's packages that are in the binary.
func shipped() ([]string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", binary).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", binary, err)
	}
	return strings.Fields(string(out)), nil
}

func (h *house) read(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		h.lines[filepath.Base(dir)] += strings.Count(string(text), "\n")
		for _, d := range file.Decls {
			h.declaration(file.Name.Name, d)
		}
	}
	return nil
}

func (h *house) declaration(pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		signatures := h.functions[d.Name.Name]
		if signatures == nil {
			signatures = map[string][]string{}
			h.functions[d.Name.Name] = signatures
		}
		signature := types.ExprString(d.Type)
		signatures[signature] = append(signatures[signature], pkg)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				h.kinds[t.Name.Name] = append(h.kinds[t.Name.Name], pkg)
				if st, ok := t.Type.(*ast.StructType); ok {
					h.fields[pkg+"."+t.Name.Name] += st.Fields.NumFields()
				}
			}
		}
	}
}

func (h *house) print() {
	total := 0
	for _, n := range h.lines {
		total += n
	}
	fmt.Printf("%d lines in the binary\n", total)
	top("lines of a package", h.lines, 12)
	definitions, signatures, kinds := map[string]int{}, map[string]int{}, map[string]int{}
	for name, of := range h.functions {
		for _, places := range of {
			definitions[name] += len(places)
		}
		signatures[name] = len(of)
	}
	for name, places := range h.kinds {
		kinds[name] = len(places)
	}
	fmt.Println("\nthe names of functions that are defined most often: definitions, different signatures")
	for _, name := range largest(definitions, 20) {
		fmt.Printf("%6d %4d  %s\n", definitions[name], signatures[name], name)
	}
	top("packages that define a type of this name", kinds, 10)
	top("fields of a struct", h.fields, 10)
}

func top(title string, of map[string]int, n int) {
	fmt.Println("\n" + title)
	for _, name := range largest(of, n) {
		fmt.Printf("%6d  %s\n", of[name], name)
	}
}

func largest(of map[string]int, n int) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

// Program gen writes the generated sets of package policies. It needs one database of
// each supported major version of PostgreSQL, only reads their catalogs, and is run from
// the repository's root:
//
//	go run ./policies/gen postgres://…15… postgres://…16… postgres://…17… postgres://…18…
//
// With -why NAME it writes nothing and tells what speaks against a function in each of
// the databases given, for a policy's author who misses one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies/internal/builtin"
)

func main() {
	dir := flag.String("dir", "policies/sets", "the folder to write to")
	why := flag.String("why", "", "tell what speaks against this function instead")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, *dir, *why, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		cancel()
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, why string, urls []string) error {
	majors := make([]*builtin.Major, len(urls))
	for i, url := range urls {
		m, err := read(ctx, url)
		if err != nil {
			return err
		}
		majors[i] = m
	}
	if why != "" {
		explain(majors, why)
		return nil
	}
	return write(majors, dir)
}

func read(ctx context.Context, url string) (*builtin.Major, error) {
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = db.Close(ctx) }()
	return builtin.Read(ctx, db)
}

func explain(majors []*builtin.Major, name string) {
	for _, m := range majors {
		said := strings.Join(m.Objections(name), "; ")
		switch {
		case !m.Has(name):
			said = "there is no such function in pg_catalog"
		case said == "":
			said = "nothing speaks against it"
		}
		fmt.Printf("PostgreSQL %d: %s\n", m.Version, said)
	}
}

func write(majors []*builtin.Major, dir string) error {
	for name, render := range map[string]func([]*builtin.Major) (string, error){
		"builtin-safe.txt":      builtin.FunctionsFile,
		"builtin-types.txt":     builtin.TypesFile,
		"builtin-operators.txt": builtin.OperatorsFile,
		"builtin-leakproof.txt": builtin.LeakproofFile,
	} {
		text, err := render(majors)
		if err != nil {
			return fmt.Errorf("making %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

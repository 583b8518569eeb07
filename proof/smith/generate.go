package smith

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// narrowSQL shows sqlsmith, which qualifies only some names, fewer functions, operators and
// tables: those of the policy's types too. What takes any type goes with the others: sqlsmith
// takes "any" for a type like any, and most of what it writes then is nothing that Postgres
// runs. The database is a copy that is thrown away.
const narrowSQL = `CREATE SCHEMA smith;
CREATE TABLE smith.functions (name name PRIMARY KEY);
INSERT INTO smith.functions SELECT unnest(string_to_array('%s', ','));
CREATE TABLE smith.types AS SELECT oid, typarray FROM pg_catalog.pg_type
	WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'p' AND typname = ANY (string_to_array('%s', ','));
INSERT INTO smith.types SELECT typarray FROM smith.types WHERE typarray <> 0;
CREATE VIEW smith.pg_proc AS SELECT * FROM pg_catalog.pg_proc
	WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN (SELECT name FROM smith.functions)
	AND prorettype IN (SELECT oid FROM smith.types) AND proargtypes::oid[] <@ ARRAY(SELECT oid FROM smith.types);
SET allow_system_table_mods = on;
ALTER TABLE pg_catalog.pg_operator RENAME TO all_operators;
CREATE VIEW pg_catalog.pg_operator AS SELECT * FROM pg_catalog.all_operators
	WHERE ARRAY[oprleft, oprright, oprresult] <@ ARRAY(SELECT oid FROM smith.types);
ALTER VIEW information_schema.tables RENAME TO all_tables;
CREATE VIEW information_schema.tables AS SELECT * FROM information_schema.all_tables
	WHERE table_schema::text || '.' || table_name::text = ANY (string_to_array('%s', ','));`

// Narrow leaves of a database's catalog what sqlsmith is to use: functions and types of
// pg_catalog by name, and tables as schema.table.
func Narrow(ctx context.Context, url string, functions, types, tables []string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	sql := fmt.Sprintf(narrowSQL, strings.Join(functions, ","), strings.Join(types, ","), strings.Join(tables, ","))
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return fmt.Errorf("narrowing the catalog: %w", err)
	}
	return nil
}

// Generate has sqlsmith print n statements for the database of url, of a seed. None of them
// is run. path is the search path of sqlsmith's session.
func Generate(ctx context.Context, url, path string, n int, seed uint64) ([]string, error) {
	cmd := exec.CommandContext(ctx, "sqlsmith", "--target="+url, "--dry-run", "--max-queries="+strconv.Itoa(n), "--seed="+strconv.FormatUint(seed%(1<<31), 10)) //nolint:gosec // the caller's database
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+path)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("sqlsmith: %w: %s", err, complained.Bytes())
	}
	statements := split(said.String())
	if len(statements) == 0 {
		return nil, errors.New("sqlsmith printed nothing")
	}
	return statements, nil
}

var (
	sample = regexp.MustCompile(` tablesample (bernoulli|system) \([0-9.]+\)`)
	array  = regexp.MustCompile(` as _(\w+)\)`)
)

// Plain has statements read whole tables instead of samples, which are others each time, and
// write the types of arrays as people do.
func Plain(statements []string) []string {
	plain := make([]string, len(statements))
	for i, s := range statements {
		plain[i] = array.ReplaceAllString(sample.ReplaceAllString(s, ""), " as $1[])")
	}
	return plain
}

// split cuts where a line ends with a semicolon; sqlsmith writes none into a literal.
func split(text string) []string {
	parts := strings.Split(text, ";\n")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" || !starts(s) })
}

// starts tells statements from what sqlsmith says beside them.
func starts(s string) bool {
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	return slices.Contains([]string{"select", "insert", "update", "delete", "with", "merge", "values", "prepare"}, strings.TrimSpace(first))
}

// Store writes statements into a file, each ended by a NUL.
func Store(file string, statements []string) error {
	return os.WriteFile(file, []byte(strings.Join(statements, "\x00")+"\x00"), 0o600)
}

// Load reads what Store wrote.
func Load(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00"), nil
}

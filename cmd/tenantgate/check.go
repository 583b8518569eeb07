package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/wire"
)

// checkCommand decides statements without a database: for a project's own CI.
type checkCommand struct {
	Dialect string   `name:"dialect" env:"-" enum:"rest,postgres" default:"rest" help:"How the statements are written. rest: with ? for parameters; only statements on rows. postgres: as Postgres clients send them, with $1 and the commands of a session; whether the names in SET and SHOW exist is not checked."`
	Policy  []string `name:"policy" placeholder:"FILE" help:"Policy file, or the name of a bundled one: default, inject or readonly. Of several, as for serve, the first decides. Without one: default, and inject for the dialect postgres."`
	Schema  string   `name:"schema" env:"-" placeholder:"FILE" help:"JSON of the tables that the policy names (policies/README.md shows how to create it); the bundled schema by default."`
	JSON    bool     `name:"json" env:"-" help:"Print one JSON object per statement."`
	Files   []string `arg:"" name:"file" help:"SQL files; statements end with a semicolon. - is standard input. Exit code 1: a statement is refused; 2: the check could not run (a file, the policy or the schema)."`
}

// checked is what becomes of one statement. Line and column are the mistake's where one
// can be pointed at, else the statement's; the position counts in the statement.
type checked struct {
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	Verdict   string   `json:"verdict"`
	Kind      string   `json:"kind,omitempty"` // or command, or answered: without the database, whatever the policy
	Rewritten string   `json:"rewritten,omitempty"`
	OnlyFor   []string `json:"onlyFor,omitempty"` // the servers whose ids an INSERT holds: another one is refused
	Code      string   `json:"code,omitempty"`
	Message   string   `json:"message,omitempty"`
	Hint      string   `json:"hint,omitempty"`
	Position  int      `json:"position,omitempty"`
}

// Run checks every statement of every file; it fails when one is refused, and otherwise
// than when it could not look.
func (k *checkCommand) Run(c *console) error {
	refused, total, err := k.all(c)
	if err != nil {
		return unusable{err}
	}
	if !k.JSON {
		plural := "s"
		if total == 1 {
			plural = ""
		}
		fmt.Fprintf(c.Out, "%d statement%s, %d refused\n", total, plural, refused)
	}
	if refused > 0 {
		return errSilent
	}
	return nil
}

func (k *checkCommand) all(c *console) (refused, total int, err error) {
	if err := checkStack(); err != nil {
		return 0, 0, err
	}
	p, err := k.compile()
	if err != nil {
		return 0, 0, err
	}
	for _, path := range k.Files {
		script, err := readScript(path)
		if err != nil {
			return 0, 0, err
		}
		at := 0
		for _, piece := range policy.Split(script, k.dialect()) {
			at += strings.Index(script[at:], piece.Text)
			result := check(p, k.dialect(), path, script, at, piece)
			at += len(piece.Text)
			if total++; result.Verdict != "allow" {
				refused++
			}
			if err := k.print(c, result); err != nil {
				return 0, 0, err
			}
		}
	}
	return refused, total, nil
}

// lineColumn counts both from 1, columns in characters.
func lineColumn(script string, offset int) (line, column int) {
	before := script[:offset]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// mistakeAt is the offset in the text of a character counted from 1.
func mistakeAt(text string, position int) int {
	for offset := range text {
		if position--; position <= 0 {
			return offset
		}
	}
	return len(text)
}

func readScript(path string) (string, error) {
	if path == "-" {
		path = "/dev/stdin"
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the statements: %w", err)
	}
	return string(src), nil
}

func (k *checkCommand) dialect() policy.Dialect {
	if k.Dialect == "postgres" {
		return policy.Postgres
	}
	return policy.REST
}

func (k *checkCommand) compile() (*policy.Policy, error) {
	names := k.Policy
	if len(names) == 0 {
		names = []string{map[policy.Dialect]string{policy.REST: "default", policy.Postgres: "inject"}[k.dialect()]}
	}
	files, err := policyFiles(names)
	if err != nil {
		return nil, err
	}
	schema, err := k.schema()
	if err != nil {
		return nil, err
	}
	p, err := policy.Compile(files[0], schema, sets())
	if err != nil {
		return nil, fmt.Errorf("compiling the policy %s: %w", names[0], k.ofSchema(err))
	}
	return p, nil
}

// ofSchema tells of the schema what compiling tells of the database: here is none.
func (k *checkCommand) ofSchema(err error) error {
	var mistake *policy.FileError
	if !errors.As(err, &mistake) {
		return err
	}
	table, lacks := strings.CutPrefix(mistake.Message, "the database has no table ")
	switch {
	case lacks && k.Schema == "":
		mistake.Message = "the bundled schema has no table " + table + ": give --schema (policies/README.md shows how to make one)"
	case lacks:
		mistake.Message = "the schema (--schema) has no table " + table
	}
	return err
}

func (k *checkCommand) schema() (s policy.Schema, err error) {
	src := policies.BundledSchema()
	if k.Schema != "" {
		if src, err = os.ReadFile(k.Schema); err != nil {
			return s, fmt.Errorf("reading the schema: %w", err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("reading the schema %s: %w", k.Schema, err)
	}
	return s, nil
}

// check decides the piece that begins at an offset of the script.
func check(p *policy.Policy, dialect policy.Dialect, path, script string, offset int, piece policy.Piece) checked {
	if dialect == policy.Postgres && wire.Answers(piece.Text) {
		line, column := lineColumn(script, offset)
		return checked{File: path, Line: line, Column: column, Verdict: "allow", Kind: "answered"}
	}
	d := p.Decide(piece.Text, dialect)
	if d.Verdict != policy.Allow && d.Refusal.Position > 0 {
		offset += mistakeAt(piece.Text, d.Refusal.Position)
	}
	result := checked{File: path, Verdict: "deny"}
	result.Line, result.Column = lineColumn(script, offset)
	if d.Verdict == policy.Allow {
		result.Verdict, result.Kind, result.Rewritten, result.OnlyFor = "allow", string(d.Approved.Kind()), d.Approved.Rewritten(), d.Approved.OnlyFor()
		if d.Approved.Command().Verb != policy.NoCommand {
			result.Kind = "command"
		}
		return result
	}
	result.Code, result.Message, result.Hint, result.Position = string(d.Refusal.Code), d.Refusal.Message, d.Refusal.Hint, d.Refusal.Position
	return result
}

func (k *checkCommand) print(c *console, r checked) error {
	if k.JSON {
		return json.NewEncoder(c.Out).Encode(r)
	}
	if r.Verdict == "allow" {
		only := ""
		for _, id := range r.OnlyFor {
			only += fmt.Sprintf("  for server %s only, whose id is in the text: a placeholder accepts any\n", printable(id))
		}
		rewritten := ""
		if r.Rewritten != "" {
			rewritten = "  " + strings.ReplaceAll(r.Rewritten, "\n", "\n  ") + "\n"
		}
		_, err := fmt.Fprintf(c.Out, "%s:%d: allow %s\n%s%s", r.File, r.Line, r.Kind, rewritten, only)
		return err
	}
	_, err := fmt.Fprintf(c.Out, "%s:%d:%d: deny %s: %s\n", r.File, r.Line, r.Column, r.Code, r.Message)
	if err == nil && r.Hint != "" {
		_, err = fmt.Fprintf(c.Out, "  %s\n", r.Hint)
	}
	return err
}

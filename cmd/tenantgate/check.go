package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// checkCommand decides statements without a database: for a project's own CI.
type checkCommand struct {
	Policy string   `name:"policy" env:"-" placeholder:"FILE" help:"Policy file, or the name of a shipped one." default:"default"`
	Schema string   `name:"schema" env:"-" placeholder:"FILE" help:"JSON of the tables that the policy names; the bundled schema by default."`
	JSON   bool     `name:"json" env:"-" help:"Print one JSON object per statement."`
	Files  []string `arg:"" name:"file" help:"SQL files; statements end with a semicolon. - is standard input."`
}

// checked is what becomes of one statement.
type checked struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Verdict   string `json:"verdict"`
	Kind      string `json:"kind,omitempty"`
	Rewritten string `json:"rewritten,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Position  int    `json:"position,omitempty"`
}

// Run checks every statement of every file; it fails when one is refused.
func (k *checkCommand) Run(c *console) error {
	p, err := k.compile()
	if err != nil {
		return err
	}
	refused, total := 0, 0
	for _, path := range k.Files {
		script, err := readScript(path)
		if err != nil {
			return err
		}
		for _, piece := range policy.Split(script) {
			result := check(p, path, piece)
			if total++; result.Verdict != "allow" {
				refused++
			}
			if err := k.print(c, result); err != nil {
				return err
			}
		}
	}
	if !k.JSON {
		fmt.Fprintf(c.Out, "%d statements, %d refused\n", total, refused)
	}
	if refused > 0 {
		return errSilent
	}
	return nil
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

func (k *checkCommand) compile() (*policy.Policy, error) {
	src, shipped := policies.Named(k.Policy)
	if !shipped {
		var err error
		if src, err = os.ReadFile(k.Policy); err != nil {
			return nil, fmt.Errorf("reading the policy: %w", err)
		}
	}
	file, err := policy.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("reading the policy %s: %w", k.Policy, err)
	}
	schema, err := k.schema()
	if err != nil {
		return nil, err
	}
	p, err := policy.Compile(file, schema, sets())
	if err != nil {
		return nil, fmt.Errorf("compiling the policy %s: %w", k.Policy, err)
	}
	return p, nil
}

func (k *checkCommand) schema() (s policy.Schema, err error) {
	src := policies.BundledSchema()
	if k.Schema != "" {
		if src, err = os.ReadFile(k.Schema); err != nil {
			return s, fmt.Errorf("reading the schema: %w", err)
		}
	}
	if err := json.Unmarshal(src, &s); err != nil {
		return s, fmt.Errorf("reading the schema: %w", err)
	}
	return s, nil
}

func check(p *policy.Policy, path string, piece policy.Piece) checked {
	d := p.Decide(piece.Text)
	result := checked{File: path, Line: piece.Line, Verdict: "deny"}
	if d.Verdict == policy.Allow {
		result.Verdict, result.Kind, result.Rewritten = "allow", string(d.Approved.Kind()), d.Approved.Rewritten()
		return result
	}
	result.Code, result.Message, result.Hint, result.Position = string(d.Reason.Code), d.Reason.Message, d.Reason.Hint, d.Reason.Position
	return result
}

func (k *checkCommand) print(c *console, r checked) error {
	if k.JSON {
		return json.NewEncoder(c.Out).Encode(r)
	}
	if r.Verdict == "allow" {
		_, err := fmt.Fprintf(c.Out, "%s:%d: allow %s\n  %s\n", r.File, r.Line, r.Kind, strings.ReplaceAll(r.Rewritten, "\n", "\n  "))
		return err
	}
	place := ""
	if r.Position > 0 {
		place = fmt.Sprintf(" at character %d", r.Position)
	}
	_, err := fmt.Fprintf(c.Out, "%s:%d: deny %s%s: %s\n", r.File, r.Line, r.Code, place, r.Message)
	if err == nil && r.Hint != "" {
		_, err = fmt.Fprintf(c.Out, "  %s\n", r.Hint)
	}
	return err
}

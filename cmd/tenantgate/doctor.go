package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/tenantgate/tenantgate/control/embedded"
	"github.com/tenantgate/tenantgate/doctor"
)

// doctorCommand looks over the database that statements run in, and changes nothing.
type doctorCommand struct {
	DatabaseURL      string   `name:"database-url" secret:"" placeholder:"URL" help:"Role that statements run as, the same as for serve. (secret)"`
	OwnerDatabaseURL string   `name:"owner-database-url" secret:"" placeholder:"URL" help:"Owner of the tables or a superuser, in the same database: reads what the statement role can't see. (secret)"`
	DataDir          string   `name:"data-dir" placeholder:"DIR" help:"Instead of both URLs: the data directory of a running tenantgate dev (make run: .tenantgate). A flag overrides the variables of the others."`
	Policy           []string `name:"policy" placeholder:"FILE" help:"Policy file, or the name of a bundled one; may be repeated: give all policies of serve. By default the bundled policies (default, inject, readonly), which list only the bundled tables."`
	SQL              bool     `name:"sql" env:"-" xor:"form" help:"Print only the SQL that fixes what was found, as one script."`
	JSON             bool     `name:"json" env:"-" xor:"form" help:"Print JSON, for scripts."`
}

// doctorJSON is what --json prints.
type doctorJSON struct {
	Database string           `json:"database"`
	Role     string           `json:"role"`
	Policies []string         `json:"policies"` // that the database was held against
	Findings []doctor.Finding `json:"findings"`
	Wall     wallJSON         `json:"wall"`
	Unseen   []string         `json:"unseen"`
}

type wallJSON struct {
	Stands bool     `json:"stands"`
	Tables []string `json:"tables"` // for which it stands
	Open   []string `json:"open"`   // for which it does not
}

// Help says what the findings and the exit codes mean.
func (*doctorCommand) Help() string {
	return `It changes nothing. A finding has one of four grades:

Breach: a statement could read or change another server's rows, also one that got past the policy: so a missing wall 3 (row-level security) is a breach. Where "closes" and a table stand beside it, the service refuses statements that name the table.

Tell: a statement could show whether another server has a value.

Risk: a statement that got past the policy would have more to work with, or a way around a wall.

Note: none of that; it may show how much other servers do.

Exit code 0: no breach, tell or risk, and nothing prevents the service from starting; 1: there are some; 2: doctor could not inspect the database, or did not understand its flags. With --sql it is 0 once the script is printed, whatever is in it: "tenantgate doctor --sql | psql … -v ON_ERROR_STOP=1" fails only where one of the two does. Before tenantgate migrate the script fails, and says so.`
}

// AfterApply sees to it that one database is meant.
func (d *doctorCommand) AfterApply(parsed *kong.Context) error {
	if err := oneOf(parsed, "databases", "database-url", &d.DatabaseURL, &d.DataDir); err != nil {
		return err
	}
	return oneOf(parsed, "databases", "owner-database-url", &d.OwnerDatabaseURL, &d.DataDir)
}

// Run examines and prints. It fails where there is more than notes, unless a script was
// all that was asked for, and otherwise than when it could not look.
func (d *doctorCommand) Run(ctx context.Context, c *console) error {
	report, err := d.examine(ctx)
	if err != nil {
		return unusable{err}
	}
	switch {
	case d.SQL:
		if note := d.bundled(report); note != "" {
			_, _ = fmt.Fprint(c.Err, "note: "+note) // the script goes to psql
		}
		_, err = fmt.Fprint(c.Out, report.Script())
	case d.JSON:
		e := json.NewEncoder(c.Out)
		e.SetIndent("", "  ")
		err = e.Encode(doctorJSON{
			Database: report.Database, Role: report.Role, Policies: report.Policies, Findings: orEmpty(report.Findings), Unseen: orEmpty(report.Unseen),
			Wall: wallJSON{Stands: report.Stands(), Tables: orEmpty(report.Walled), Open: orEmpty(report.Open)},
		})
	default:
		_, err = fmt.Fprint(c.Out, diagnosis(report), d.bundled(report))
	}
	if err != nil {
		return unusable{err}
	}
	if !d.SQL && !report.Sound() {
		return errSilent
	}
	return nil
}

func (d *doctorCommand) examine(ctx context.Context) (*doctor.Report, error) {
	statement, owner, err := d.urls()
	if err != nil {
		return nil, err
	}
	files, err := policyFiles(d.Policy)
	if err != nil {
		return nil, err
	}
	report, err := doctor.Examine(ctx, doctor.Config{URL: statement, OwnerURL: owner, Files: files, Sets: sets().Functions})
	if err != nil {
		return nil, fmt.Errorf("looking at the database: %w", err)
	}
	return report, nil
}

// urls are those of the statement role and of an owner or superuser. Of a running tenantgate
// dev nobody else knows the statement role's password: its superuser becomes that role.
func (d *doctorCommand) urls() (statement, owner string, err error) {
	if d.DataDir == "" {
		if d.DatabaseURL == "" {
			err = errors.New("which database? give --database-url, the URL of the role that statements run as, or --data-dir for that of a running tenantgate dev")
		}
		return d.DatabaseURL, d.OwnerDatabaseURL, err
	}
	admin, err := embedded.Find(d.DataDir)
	if err != nil {
		return "", "", err
	}
	if owner, err = inDatabase(admin, devDatabase); err != nil {
		return "", "", err
	}
	u, err := url.Parse(owner)
	if err != nil {
		return "", "", errors.New("the embedded database's URL can't be read")
	}
	query := u.Query()
	query.Set("role", statementRole)
	u.RawQuery = query.Encode()
	return u.String(), owner, nil
}

// bundled says that no policy was named: what the bundled ones do not know counts as not
// admitted.
func (d *doctorCommand) bundled(r *doctor.Report) string {
	if len(d.Policy) > 0 {
		return ""
	}
	return "no --policy was given, so this was compared with the bundled ones (" + strings.Join(r.Policies, ", ") + "), which know the bundled tables alone: name yours for tables of your own\n"
}

// orEmpty makes an empty list of none: JSON has [] then, not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// diagnosis writes a report for a person.
func diagnosis(r *doctor.Report) string {
	var b strings.Builder
	var closed []string
	counts := map[doctor.Grade]int{}
	for _, f := range r.Findings {
		counts[f.Grade]++
		fmt.Fprintf(&b, "%-6s  %s%s\n", f.Grade, f.Check, closes(f))
		fmt.Fprintf(&b, "        %s\n", printable(f.Says))
		if f.Instead != "" {
			fmt.Fprintf(&b, "        → %s\n", printable(f.Instead))
		}
		for line := range strings.Lines(f.SQL) {
			fmt.Fprintf(&b, "          %s\n", printable(strings.TrimSuffix(line, "\n")))
		}
		if closes(f) != "" {
			closed = append(closed, printable(f.Table)+" ("+f.Check+") under "+strings.Join(f.Lacking, ", "))
			fmt.Fprintf(&b, "        or, once you have read it, at the table in %s: accept: [{finding: %s, object: %q, reason: …}]\n", inEach(f.Lacking), f.Check, printable(f.Object))
		}
		b.WriteString("\n")
	}
	for _, what := range r.Unseen {
		fmt.Fprintf(&b, "not seen: %s\n", what)
	}
	fmt.Fprintf(&b, "database %s, role %s: %s, %s, %s, %s\n", printable(r.Database), printable(r.Role),
		counted(counts[doctor.Breach], "breach"), counted(counts[doctor.Tell], "tell"), counted(counts[doctor.Risk], "risk"), counted(counts[doctor.Note], "note"))
	if len(closed) > 0 {
		fmt.Fprintf(&b, "not served while this is so: %s\n", strings.Join(closed, "; "))
	}
	fmt.Fprintln(&b, verdict(r))
	return b.String()
}

// inEach names the policies of which each has to accept a finding.
func inEach(policies []string) string {
	if len(policies) < 2 {
		return strings.TrimSpace("the policy " + strings.Join(policies, ""))
	}
	return "each of the policies " + strings.Join(policies, ", ")
}

// closes names the table that is closed while serving.
func closes(f doctor.Finding) string {
	if f.Grade != doctor.Breach || f.Table == "" {
		return ""
	}
	return ", closes " + printable(f.Table)
}

// verdict tells whether the wall stands, and whether a service that requires it would serve.
func verdict(r *doctor.Report) string {
	var wall string
	switch {
	case r.Stands():
		wall = "the wall stands for " + printable(strings.Join(r.Walled, ", "))
		if len(r.Unseen) > 0 {
			wall = "as far as could be seen " + wall
		}
	case len(r.Open) == 0:
		wall = "no scoped table is there, so no wall"
	default:
		wall = "the wall does not stand for " + printable(strings.Join(r.Open, ", "))
	}
	var stopping []string
	for _, f := range r.Stopping() {
		stopping = append(stopping, f.Check+" of "+printable(f.Object))
	}
	switch {
	case len(stopping) > 0:
		return wall + "; the service would not start, with rls: required or without (" + strings.Join(stopping, ", ") + ")"
	case r.Stands():
		return wall + ": rls: required would serve them"
	}
	return wall + ": rls: required would serve nothing"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printable keeps the control characters that a name can have from the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

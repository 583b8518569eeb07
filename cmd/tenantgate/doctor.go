package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/doctor"
)

// doctorCommand looks over the database that statements run in, and changes nothing.
type doctorCommand struct {
	DatabaseURL      string   `name:"database-url" required:"" secret:"" placeholder:"URL" help:"Role that statements run as, as serve is given it. (secret)"`
	OwnerDatabaseURL string   `name:"owner-database-url" secret:"" placeholder:"URL" help:"Owner of the tables or a superuser, in the same database: for what the statement role can't see. (secret)"`
	Policy           []string `name:"policy" placeholder:"FILE" help:"Policy file, or the name of a shipped one; may be repeated: all that serve is given. Without one the shipped policies (default, inject, readonly)."`
	SQL              bool     `name:"sql" env:"-" xor:"form" help:"Print only the SQL that mends what was found, as one script."`
	JSON             bool     `name:"json" env:"-" xor:"form" help:"Print JSON, for scripts."`
}

// doctorJSON is what --json prints.
type doctorJSON struct {
	Database string           `json:"database"`
	Role     string           `json:"role"`
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
	return `It changes nothing. A leak gives away, or changes, another server's rows; a risk takes away a wall behind the policy, or opens what a statement could get around it by; a note does neither, and may tell how much other servers do.

Exit code 0: neither leak nor risk, whatever notes there are; 1: at least one of them; 2: it could not look, or was not understood. With --sql 0 once the script is printed, whatever is in it: "tenantgate doctor --sql | psql …" fails only where one of the two does.`
}

// Run examines and prints. It fails where there is a leak or a risk, unless a script was
// all that was asked for, and otherwise than when it could not look.
func (d *doctorCommand) Run(ctx context.Context, c *console) error {
	report, err := d.examine(ctx)
	if err != nil {
		return unusable{err}
	}
	switch {
	case d.SQL:
		_, err = fmt.Fprint(c.Out, report.Script())
	case d.JSON:
		e := json.NewEncoder(c.Out)
		e.SetIndent("", "  ")
		err = e.Encode(doctorJSON{
			Database: report.Database, Role: report.Role, Findings: orEmpty(report.Findings), Unseen: orEmpty(report.Unseen),
			Wall: wallJSON{Stands: report.Stands(), Tables: orEmpty(report.Walled), Open: orEmpty(report.Open)},
		})
	default:
		_, err = fmt.Fprint(c.Out, diagnosis(report))
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
	if d.DatabaseURL == "" {
		return nil, errors.New("--database-url is empty: give the URL of the statement role")
	}
	files, err := policyFiles(d.Policy)
	if err != nil {
		return nil, err
	}
	report, err := doctor.Examine(ctx, doctor.Config{URL: d.DatabaseURL, OwnerURL: d.OwnerDatabaseURL, Files: files, Sets: sets().Functions})
	if err != nil {
		return nil, fmt.Errorf("looking at the database: %w", err)
	}
	return report, nil
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
	counts := map[doctor.Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
		fmt.Fprintf(&b, "%-4s  %s\n", f.Severity, f.Check)
		fmt.Fprintf(&b, "      %s\n", printable(f.Says))
		if f.Instead != "" {
			fmt.Fprintf(&b, "      → %s\n", printable(f.Instead))
		}
		for line := range strings.Lines(f.SQL) {
			fmt.Fprintf(&b, "        %s\n", printable(strings.TrimSuffix(line, "\n")))
		}
		b.WriteString("\n")
	}
	for _, what := range r.Unseen {
		fmt.Fprintf(&b, "not seen: %s\n", what)
	}
	fmt.Fprintf(&b, "database %s, role %s: %s, %s, %s\n", printable(r.Database), printable(r.Role), counted(counts[doctor.Leak], "leak"), counted(counts[doctor.Risk], "risk"), counted(counts[doctor.Note], "note"))
	fmt.Fprintln(&b, verdict(r))
	return b.String()
}

// verdict tells whether a service that requires the wall would start.
func verdict(r *doctor.Report) string {
	switch {
	case r.Stands() && len(r.Unseen) > 0:
		return "as far as could be seen the wall stands for " + printable(strings.Join(r.Walled, ", ")) + ": rls: required would start"
	case r.Stands():
		return "the wall stands for " + printable(strings.Join(r.Walled, ", ")) + ": rls: required would start"
	case len(r.Open) == 0:
		return "no scoped table is there, so no wall: rls: required would not start"
	}
	return "the wall does not stand for " + printable(strings.Join(r.Open, ", ")) + ": rls: required would not start"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
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

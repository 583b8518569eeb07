package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policy"
)

// examineTime bounds one examination.
const examineTime = 2 * time.Minute

// Config says what to look at.
type Config struct {
	URL      string              // the statement role's; required
	OwnerURL string              // of a role that sees more, in the same database; "" for none
	Files    []*policy.File      // all policies that are in force there
	Sets     map[string][]string // the function sets that they refer to
}

// Examine looks over a database. It changes nothing and takes no lock that a statement
// waits for. An error means that it could not look; what it could not see without
// OwnerURL is in the report.
func Examine(ctx context.Context, cfg Config) (*Report, error) {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	names, err := newNamed(cfg.Files, cfg.Sets)
	if err != nil {
		return nil, err
	}
	role, err := open(ctx, cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("as the statement role: %w", err)
	}
	defer role.close(ctx)
	seer := role
	if cfg.OwnerURL != "" {
		if seer, err = open(ctx, cfg.OwnerURL); err != nil {
			return nil, fmt.Errorf("as the owner: %w", err)
		}
		defer seer.close(ctx)
		if seer.place != role.place {
			return nil, errors.New("the two URLs lead to different databases: both must lead to the one that statements run in")
		}
	}
	e := &examination{role: role, seer: seer, names: names, files: cfg.Files, report: &Report{Database: role.database, Role: role.user}}
	for _, f := range cfg.Files {
		e.report.Policies = append(e.report.Policies, f.Name)
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.report, nil
}

// examination is one under way.
type examination struct {
	role, seer *session
	names      *named
	files      []*policy.File
	report     *Report
}

func (e *examination) run(ctx context.Context) error {
	types, err := e.seer.scopeTypes(ctx, e.names)
	if err != nil {
		return err
	}
	e.names.settle(types)
	policies, err := e.names.text()
	if err != nil {
		return err
	}
	checks := slices.Concat(roleChecks, policyChecks, grantChecks, wallChecks, viewChecks, hiddenChecks, definerChecks, plannerChecks, surfaceChecks, serverChecks)
	for _, s := range []*session{e.role, e.seer} {
		due := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.asRole != (s == e.role) && e.role != e.seer })
		found, err := ask(ctx, s.tx, due, e.role.user, policies)
		if err != nil {
			return err
		}
		e.report.Findings = append(e.report.Findings, found...)
		if e.role == e.seer {
			break
		}
	}
	e.report.Findings = append(e.report.Findings, slices.Concat(release(e.role.release), wire(e.role.config))...)
	if err := e.look(ctx); err != nil {
		return err
	}
	e.report.onlyAlone()
	e.report.awaitMigration()
	e.report.judge(e.names.scoped())
	e.report.spare(e.names)
	unmatched := e.report.unmatched(e.files, e.names)
	e.report.once()
	e.report.accept(e.files, e.names)
	e.report.Findings = append(e.report.Findings, unmatched...)
	e.report.sort()
	return nil
}

// look asks what takes more than one query: of whom that may answer, the statement role
// first.
func (e *examination) look(ctx context.Context) error {
	for _, l := range []struct {
		look func(context.Context, pgx.Tx) ([]Finding, bool, error)
		what string
	}{
		{probe, "whether the view tenantgate_wall.server refuses unsigned ids (no role that was given may read it)"},
		{countKeys, "whether there is a key (give --owner-database-url)"},
	} {
		found, seen, err := l.look(ctx, e.role.tx)
		if err == nil && !seen && e.seer != e.role {
			found, seen, err = l.look(ctx, e.seer.tx)
		}
		if err != nil {
			return err
		}
		if !seen {
			e.report.Unseen = append(e.report.Unseen, l.what)
		}
		e.report.Findings = append(e.report.Findings, found...)
	}
	var sees bool
	if err := e.seer.tx.QueryRow(ctx, "SELECT pg_catalog.pg_has_role('pg_read_all_settings', 'USAGE')").Scan(&sees); err != nil {
		return fmt.Errorf("asking whether the role may see all settings: %w", err)
	}
	if !sees {
		e.report.Unseen = append(e.report.Unseen, "settings that only a superuser sees, such as session_preload_libraries (give --owner-database-url with a role that has pg_read_all_settings)")
	}
	return nil
}

// scoped names the scoped tables as SQL writes them. One that does not exist can have no
// wall, and is a finding of its own.
func (n *named) scoped() (tables []string) {
	for _, t := range n.Tables {
		if t.Scoped && t.ident != "" {
			tables = append(tables, t.ident)
		}
	}
	return tables
}

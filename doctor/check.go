package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The order of a script: what others need comes first.
const (
	stageSchema  = iota // the wall's schema and view
	stageRole           // the role's attributes and memberships
	stageOwner          // who owns what
	stageRevoke         // rights that go
	stageGrant          // rights of tables that the policies name
	stageForeign        // foreign keys: unique keys can't go while these refer to them
	stageKey            // unique keys
	stageColumn         // the scope columns themselves
	stageWall           // policies, on columns as they are by then
	stageRest
)

// check is one thing to look for. Its query gives a row for each fault. Words in braces
// in says, mend and instead stand for that row's columns. These columns have a meaning:
//
//	object   what the finding is about
//	grade    the finding's, instead of the check's
//	listed   the table of the policies by naming which a statement comes to it, and listed_oid
//	needs    a JSON list of the oids of tables: where row-level security stands behind all of
//	         them it is no fault; nothing, or [], where no row-level security helps
//	wall     the scoped table, quoted, for which the wall does not stand then; - for none
//	by       "check object" of the finding whose SQL mends this one, too
//	alone    not empty: the role is no statement role, so nothing else that is found counts
type check struct {
	name    string
	grade   Grade
	asRole  bool   // ask as the statement role, not as whoever sees most
	opens   bool   // the wall does not stand then; for every table, unless column wall says which
	served  bool   // it is asked while serving too, and has listed_oid, needs and grade; a breach closes the table
	stops   bool   // the service does not start while this is so, whatever --rls says
	stage   int    // of mend
	sql     string // after the relations of prelude.go
	says    string
	mend    string // "" or empty once filled in: no SQL mends it
	instead string
}

// row is one fault, as its query tells it.
type row map[string]string

// ask asks the queries of checks, in one go, and gives all that they found.
func ask(ctx context.Context, tx pgx.Tx, checks []check, role, policies string) (findings []Finding, err error) {
	var batch pgx.Batch
	for _, c := range checks {
		query := with(c.sql) + ", found AS (" + c.sql + ")\nSELECT coalesce(json_agg(to_json(found)), '[]')::text FROM found"
		batch.Queue(query, role, policies).QueryRow(func(answer pgx.Row) error {
			found, err := c.read(answer)
			findings = append(findings, found...)
			return err
		})
	}
	return findings, tx.SendBatch(ctx, &batch).Close()
}

// read reads what a check's query answered.
func (c *check) read(answer pgx.Row) ([]Finding, error) {
	var text []byte
	if err := answer.Scan(&text); err != nil {
		return nil, fmt.Errorf("looking for %s: %w", c.name, err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("reading what was found of %s: %w", c.name, err)
	}
	findings := make([]Finding, 0, len(rows))
	for _, found := range rows {
		r := row{}
		for column, value := range found {
			if value == nil {
				value = ""
			}
			r[column] = fmt.Sprint(value)
		}
		findings = append(findings, c.finding(r))
	}
	return findings, nil
}

func (c *check) finding(r row) Finding {
	var needs []uint32
	_ = json.Unmarshal([]byte(r["needs"]), &needs) // no list: nothing helps
	return Finding{
		Grade: grade(r["grade"], c.grade), Check: c.name, Object: r["object"],
		Says: r.fill(c.says), SQL: r.fill(c.mend), Instead: r.fill(c.instead),
		Stops: c.stops, Table: r["listed"], needs: needs, by: r["by"], stage: c.stage, table: r["wall"], wall: c.opens && r["wall"] != "-", alone: r["alone"] != "",
	}
}

// fill puts the row's columns into words, once: what stands in a column is not filled in.
func (r row) fill(words string) string {
	var pairs []string
	for column, value := range r {
		pairs = append(pairs, "{"+column+"}", value)
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(words))
}

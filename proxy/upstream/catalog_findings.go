package upstream

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/policy"
)

// Judge finds what of the tables in the catalog lets a statement get around the policy.
type Judge interface {
	// Query is what to ask, as the role of statements: one row of one text.
	Query() (sql string, args []any)
	// Read reads the answer.
	Read(answer []byte) ([]policy.Finding, error)
}

// find gives what the judge finds, whether or not row-level security helps.
func (p *Pool) find(ctx context.Context, conn *pgxpool.Conn) (findings []policy.Finding, err error) {
	if p.cfg.Judge == nil {
		return nil, nil
	}
	sql, args := p.cfg.Judge.Query()
	var batch pgx.Batch
	batch.Queue(pathSQL)
	batch.Queue(sql, args...).QueryRow(func(row pgx.Row) (err error) {
		var answer []byte
		if err = row.Scan(&answer); err == nil {
			findings, err = p.cfg.Judge.Read(answer)
		}
		return err
	})
	return findings, conn.SendBatch(ctx, &batch).Close()
}

// attachFindings gives each table what was found of it, where row-level security does not help.
func attachFindings(findings []policy.Finding, tables []policy.Table) {
	for _, f := range findings {
		if i := slices.IndexFunc(tables, func(t policy.Table) bool { return t.OID == f.Table }); i >= 0 && !haveWalls(f.Needs, tables) {
			tables[i].Findings = append(tables[i].Findings, f)
		}
	}
}

// haveWalls tells whether row-level security stands behind all tables that a finding needs it of.
func haveWalls(needs []uint32, tables []policy.Table) bool {
	return len(needs) > 0 && !slices.ContainsFunc(needs, func(oid uint32) bool {
		return !slices.ContainsFunc(tables, func(t policy.Table) bool { return t.OID == oid && t.Walled })
	})
}

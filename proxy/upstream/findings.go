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

// find gives each table what the judge finds of it, where row-level security does not help.
func (p *Pool) find(ctx context.Context, conn *pgxpool.Conn, tables []policy.Table) error {
	if p.cfg.Judge == nil {
		return nil
	}
	var findings []policy.Finding
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
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return err
	}
	for _, f := range findings {
		if i := slices.IndexFunc(tables, func(t policy.Table) bool { return t.OID == f.Table }); i >= 0 && !kept(f.Needs, tables) {
			tables[i].Findings = append(tables[i].Findings, f)
		}
	}
	return nil
}

// kept tells whether row-level security stands behind all tables that a finding needs it of.
func kept(needs []uint32, tables []policy.Table) bool {
	return len(needs) > 0 && !slices.ContainsFunc(needs, func(oid uint32) bool {
		return !slices.ContainsFunc(tables, func(t policy.Table) bool { return t.OID == oid && t.Walled })
	})
}

package proof

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// Databases gives the superuser's URLs of a server's templates: D, D|s, and D|s with its rows
// in another order. Whoever writes there changes what is copied later.
func (w *World) Databases(server int) (all, alone, reordered string, err error) {
	u, err := url.Parse(w.admin)
	if err != nil {
		return "", "", "", errors.New("the superuser's URL is not one")
	}
	of := func(kind database) string {
		u.Path = "/" + w.name + "_" + kind.of(server)
		return u.String()
	}
	return of(shared), of(own), of(shuffled), nil
}

// Emptied makes a copy of D without the rows of other servers and gives the superuser's URL. Nothing is vacuumed or analysed
// after that, so the sizes and statistics are those of all rows, and so are the plans, as long as D is Kept. Nobody may be
// connected to D.
func (w *World) Emptied(ctx context.Context, server int) (string, error) {
	all, _, _, err := w.Databases(server)
	if err != nil {
		return "", err
	}
	for _, sql := range append([]string{withoutAutovacuum}, tidied...) {
		if err := w.exec(ctx, all, sql); err != nil {
			return "", err
		}
	}
	url, err := w.create(ctx, emptied.of(server), w.name+"_"+shared.of(server))
	if err != nil {
		return "", err
	}
	var sql strings.Builder
	sql.WriteString("SET session_replication_role = replica;") // no trigger or foreign key acts
	for _, t := range statement.Tables() {
		if t.ScopeType != "" {
			fmt.Fprintf(&sql, "DELETE FROM %s WHERE %s::text IS DISTINCT FROM '%s';", qualified(t), statement.Quote(t.Scope()), Servers[server])
		}
	}
	return url, w.exec(ctx, url, sql.String())
}

// withoutAutovacuum keeps the tables of a database as they are.
const withoutAutovacuum = `
	DO $$ DECLARE t regclass; BEGIN
		FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'shop'::regnamespace) LOOP
			EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', t);
		END LOOP; END $$;`

// PolicyFile gives the text of the proof's policy in a scope mode.
func PolicyFile(mode policy.ScopeMode) string { return policyFile(mode) }

// Variants gives, for each of the planner's settings that plans depend on, a SET that turns it
// and one that turns it back.
func Variants() [][2]string {
	var all [][2]string
	for _, p := range planner {
		all = append(all, [2]string{"SET " + p.name + " = " + p.values[1], "RESET " + p.name})
	}
	return all
}

package upstream

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
)

// Ensure the database does not compile the reading of the schema, which is done every second: that
// takes a second of its processor each time.
func TestSchemaIsNotCompiled(t *testing.T) {
	db := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	always := "ALTER DATABASE " + admin.Config().Database + " SET "
	for _, sql := range []string{"CREATE TABLE t (a int)", always + "jit_above_cost = 0", always + "jit_inline_above_cost = 0", always + "jit_optimize_above_cost = 0"} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	b := setup(t, Config{URL: db}, "")
	took := time.Hour
	for range 5 {
		start := time.Now()
		if _, err := b.pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "t"}}); err != nil {
			t.Fatal(err)
		}
		took = min(took, time.Since(start))
	}
	if took > 400*time.Millisecond {
		t.Errorf("each of five readings took %v and more", took)
	}
}

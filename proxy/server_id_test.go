package proxy

import (
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// The id of a server has to suit the policy that its project is assigned, else the default one, and the schema as it is.
func TestCheckServerID(t *testing.T) {
	b := newBenchWith(t, policy.Limits{}, func(c *PoliciesConfig) {
		ledger, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: ledger}\nstatement: {kinds: [select]}\ntables: {ledger: {scoped: true, column: tenant}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		c.Files = append(c.Files, ledger)
		c.Catalog.(*fakeCatalog).schema.Tables = append(c.Catalog.(*fakeCatalog).schema.Tables,
			policy.Table{Schema: "public", Name: "ledger", Columns: []policy.Column{{Name: "tenant", TypeSchema: "pg_catalog", TypeName: "int8"}}})
	})
	const number = "a server's id must be one that its rows can have: the scope column tenant of public.ledger has the type int8, which takes only whole numbers of 8 bytes, without a plus sign or leading zeros"
	check := func(assigned, id, says string) {
		t.Helper()
		err := b.policies.CheckServerID(assigned, id)
		if (err == nil) != (says == "") || err != nil && (codeOf(err) != InvalidRequest || AsError(err).Message != says) {
			t.Errorf("%s under %q: %v", id, assigned, err)
		}
	}
	check("", "acme", "")
	check("reader", "acme", "")
	check("ledger", "42", "")
	check("ledger", "acme", number)
	check("gone", "acme", "") // what is not loaded admits no statement
	b.catalog.mu.Lock()
	b.catalog.schema.Tables = b.catalog.schema.Tables[:1]
	b.catalog.mu.Unlock()
	if changed, err := b.Refresh(t.Context(), time.Now()); err != nil || !changed {
		t.Fatal(changed, err)
	}
	check("ledger", "acme", "") // nor does a policy whose tables are not there
	if known, err := CheckServerID(b.policies.config.Files, b.policies.current.Load().schema, "ledger", "acme"); known || err != nil {
		t.Error(known, err)
	}
}

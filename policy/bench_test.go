package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

const tenant = "0190b2a7-6f6e-7c3d-9b1a-3c5d7e9f1a2b"

// BenchmarkDecideCold decides texts that were never seen. The second one is a statement of
// some size: a WITH, a join and an aggregate.
func BenchmarkDecideCold(b *testing.B) {
	p := compile(b, "default", readSchema(b))
	for name, text := range map[string]string{
		"select": "SELECT id, content FROM messages WHERE id = ? AND server_id = ?",
		"cte": "WITH recent AS (SELECT conversation_id, content FROM messages WHERE server_id = ? AND role = ?) " +
			"SELECT c.title, count(*) FROM recent r JOIN conversations c ON c.id = r.conversation_id WHERE c.server_id = ? GROUP BY c.title ORDER BY 2 DESC LIMIT 10",
	} {
		b.Run(name, func(b *testing.B) {
			if d := p.Decide(text, policy.REST); d.Verdict != policy.Allow {
				b.Fatal(d.Refusal)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(text, policy.REST)
			}
		})
	}
}

// bindings are statements with args for them.
func bindings(tb testing.TB) map[*policy.Approved][]policy.Arg {
	tb.Helper()
	p := compile(tb, "default", readSchema(tb))
	text, id := policy.Arg{Kind: policy.String, Text: "hello"}, policy.Arg{Kind: policy.String, Text: tenant}
	all := map[*policy.Approved][]policy.Arg{}
	for sql, args := range map[string][]policy.Arg{
		"SELECT id, content FROM messages WHERE id = ? AND server_id = ?": {text},
		"INSERT INTO messages (id, server_id, content) VALUES (?, ?, ?)":  {text, id, text},
		"UPDATE messages SET content = ? WHERE id = ? AND server_id = ?":  {text, text, id},
	} {
		d := p.Decide(sql, policy.REST)
		if d.Verdict != policy.Allow {
			tb.Fatal(d.Refusal)
		}
		all[d.Approved] = args
	}
	return all
}

// TestBindingAllocatesNothing is about statements that are bound, and their parameters read.
func TestBindingAllocatesNothing(t *testing.T) {
	for approved, args := range bindings(t) {
		n := testing.AllocsPerRun(100, func() {
			bound, reason := approved.Bind(tenant, args)
			if reason != nil {
				t.Fatal(reason)
			}
			for i := range bound.NumParams() {
				if p := bound.Param(i); p.Value.Text == "" {
					t.Fatal("an empty value")
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", approved.Rewritten(), n)
		}
	}
}

func BenchmarkBind(b *testing.B) {
	for approved, args := range bindings(b) {
		b.Run(string(approved.Kind()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, reason := approved.Bind(tenant, args); reason != nil {
					b.Fatal(reason)
				}
			}
		})
	}
}

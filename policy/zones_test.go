package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/policy/sql/analyze"
)

// Ensure a statement that can have a backend keep as many time zones as somebody makes up is
// told from what applications write every day.
func TestZones(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]bool{
		"SELECT max(now() AT TIME ZONE ('A' || g)) FROM generate_series(1, 9) AS g": true,
		"SELECT now() AT TIME ZONE 'A1'":                                            true,
		"SELECT now() AT TIME ZONE $1":                                              true,
		"SELECT now() AT TIME ZONE content FROM messages":                           true,
		"SELECT date_trunc('day', now(), content) FROM messages":                    true,
		"SELECT make_timestamptz(2024, 1, 1, 0, 0, 0, content) FROM messages":       true,
		"SELECT content::timestamptz FROM messages":                                 true,
		"SELECT ('2024-01-01 A' || g)::date FROM generate_series(1, 9) AS g":        true,
		"SELECT CAST(lower(content) AS timestamp) FROM messages":                    true,
		"SELECT date(content) FROM messages":                                        true,
		"SELECT string_to_array(content, ',')::timestamptz[] FROM messages":         true,
		"SELECT '2024-01-01 12:00 A1'::timestamptz":                                 true,
		"SELECT TIMESTAMPTZ 'now <x>Q+3'":                                           true,
		"SELECT id FROM messages WHERE created_at > '2024-01-01 12:00 A1'":          true,
		"SELECT x.at FROM json_to_record($1) AS x(at timestamptz)":                  true,
		"SELECT x.at FROM json_to_record($1) AS x(at text)":                         false,
		"SELECT json_populate_record(m, $1) FROM messages m":                        true,
		"SELECT $1::text::timestamptz":                                              true,

		"SELECT now() AT TIME ZONE 'Europe/Berlin'":                                                false,
		"SELECT created_at AT TIME ZONE INTERVAL '2 hours' FROM messages":                          false,
		"SELECT created_at::date, count(*) FROM messages GROUP BY created_at::date":                false,
		"SELECT date_trunc('day', created_at) FROM messages":                                       false,
		"SELECT date_trunc('day', created_at, 'Asia/Tokyo')::date FROM messages":                   false,
		"SELECT (now() - interval '1 day')::date, date(now()), CURRENT_DATE::timestamptz":          false,
		"SELECT id FROM messages WHERE created_at > '2024-01-01T12:00:00.000Z' AND content = 'a1'": false,
		"SELECT id FROM messages WHERE created_at BETWEEN '2024-01-01 12:00+02' AND $1":            false,
		"SELECT $1::timestamptz, $2::timestamptz[]":                                                false,
		"SELECT TIMESTAMP '2024-01-01 12:00 UTC', DATE 'today'":                                    false,
		"INSERT INTO messages (content, created_at) VALUES ('b12', now())":                         false,
	} {
		d := p.Decide(text, policy.Postgres)
		if d.Verdict != policy.Allow {
			t.Errorf("%s: %+v", text, d.Refusal)
			continue
		}
		if got := d.Approved.Zones(); got != want {
			t.Errorf("%t: %s", got, text)
		}
	}
	if d := p.Decide("SELECT $1::timestamptz", policy.Postgres, 25); d.Verdict != policy.Allow || !d.Approved.Zones() {
		t.Errorf("a text is taken for a moment: %+v", d.Refusal)
	}
}

func TestSpellsZone(t *testing.T) {
	for text, want := range map[string]bool{
		"2024-01-01 A1": true, "2024-01-01 12:00 a-1": true, "2024-01-01 12:00 Europe/x3": true, "now A1": true, "{today Z1}": true, `["2024-01-01 A1"]`: true,
		"20240101 12:00 x_1": true, "2024-01-01 é1": true, "epoch q+1": true, "[2024-01-01,2024-01-02 A1)": true, "2024-01-01 12:00 T+1": true, "2024-01-01 12:00 Z-1": true,
		"": false, "A1": false, "2024-01-01": false, "2024-01-01T12:00:00Z": false, "2024-01-01 12:00:00.5+02": false, "2024-01-01t12:00 CET": false,
		"{2024-01-01T12:00Z,2024-01-02T12:00Z}": false, "1 January 2024": false, "2024-01-01 12:00 Europe/Berlin": false, "Europe/Berlin": false, "infinity": false,
	} {
		if got := analyze.SpellsZone(text); got != want {
			t.Errorf("%t: %s", got, text)
		}
	}
}

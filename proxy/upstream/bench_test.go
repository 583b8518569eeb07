package upstream

import (
	"context"
	"testing"
)

// BenchmarkQuery is one statement over a socket to a local Postgres, all included.
func BenchmarkQuery(b *testing.B) {
	for name, c := range map[string]struct {
		cfg Config
		st  *statement
	}{
		"point":   {Config{}, sel("SELECT $1::int AS id, 'a name' AS name", num("7"))},
		"1k rows": {Config{}, sel("SELECT g AS id, 'a text of ordinary length' AS t, now() AS at FROM generate_series(1,1000) g")},
		"unnamed": {Config{NoPrepared: true}, sel("SELECT $1::int AS id, 'a name' AS name", num("7"))},
	} {
		b.Run(name, func(b *testing.B) {
			env := setup(b, c.cfg, "")
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				res, err := env.pool.query(context.Background(), c.st, Encoding{}, buf[:0])
				if err != nil {
					b.Fatal(err)
				}
				buf = res.Body
			}
		})
	}
}

// Package clients makes real clients do what applications do, through Postgres' own
// protocol: psql, pgbench, pgx, JDBC, and the Node clients of folder node, each in its
// published version. None of them names server_id.
//
// Each test runs against each target: a plain Postgres that holds only one server's rows, and
// tenantgate in front of one that also holds another server's. The expected results are written
// once, so what passes on both targets is the same on both.
//
//	go test ./proof/clients -targets plain,tenantgate
//	go test ./proof/clients -url postgres://… -run Pgx   # an empty database with the test's tables
package clients_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

var (
	targets = flag.String("targets", "plain,tenantgate", "what the clients connect to: plain and tenantgate, with commas")
	given   = flag.String("url", "", "connect to this instead; each test empties the tables first")
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	gate.stop()
	os.Exit(code)
}

// each runs a test on each target, which has no rows yet.
func each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	if *given != "" {
		empty(t, *given)
		test(t, *given)
		return
	}
	for _, name := range strings.Split(*targets, ",") {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "plain":
				test(t, plain(t))
			case "tenantgate":
				test(t, tenant(t))
			default:
				t.Fatal("no such target")
			}
		})
	}
}

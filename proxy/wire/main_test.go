package wire

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(withPostgres{m}) }

// withPostgres stops the server that a test started before leaks are looked for.
type withPostgres struct{ *testing.M }

func (w withPostgres) Run() int { return pgtest.Main(w.M) }

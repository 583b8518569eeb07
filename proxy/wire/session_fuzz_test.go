package wire

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
)

// FuzzSession has a session read whatever bytes: it ends without a panic, and keeps no more
// than it may.
func FuzzSession(f *testing.F) {
	for _, messages := range [][]pgproto3.FrontendMessage{
		{&pgproto3.Query{String: "BEGIN; SELECT 1; COMMIT"}, &pgproto3.Query{String: "SELECT version()"}, &pgproto3.Terminate{}},
		append(step(point, "x"), &pgproto3.Flush{}, &pgproto3.Sync{}),
		{&pgproto3.Parse{Name: "s", Query: all, ParameterOIDs: []uint32{23}}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}, &pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Sync{}},
		{&pgproto3.Query{String: copyFiles}, &pgproto3.CopyData{Data: []byte("a\tb\tc\n\\.\n")}, &pgproto3.CopyDone{}},
		{&pgproto3.Query{String: copyFiles + " (FORMAT csv)"}, &pgproto3.CopyData{Data: []byte("a,\"b\"\"\n\",c\n")}, &pgproto3.CopyFail{}},
		{&pgproto3.Query{String: copyFiles + " (FORMAT binary)"}, &pgproto3.CopyData{Data: []byte(binaryCopy([]string{"a", "b", "c"}))}, &pgproto3.CopyDone{}},
		{&pgproto3.Query{String: "SET DateStyle = 'german'; SHOW ALL"}, &pgproto3.FunctionCall{}},
		append(step("SAVEPOINT a"), append(step("BEGIN"), &pgproto3.Sync{})...),
	} {
		f.Add(encoded(messages...))
	}
	gate := newDeciding(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		server, err := New(Config{Gate: gate, Open: func(proxy.Account) Link { return quiet{} }, Logger: slog.New(slog.DiscardHandler), TLSMode: TLSDisable, MaxMessageBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		here, there := net.Pipe()
		defer func() { _, _ = here.Close(), there.Close() }()
		c := server.newClient(here)
		c.conn = &replay{Conn: here, messages: data, times: 1}
		c.serverID = ownID
		c.phase.Store(uint32(active))
		c.lendBuffer()
		s := newSession(c)
		err = guarded(func() error { return s.run(context.Background()) })
		var panicked *proxy.Panicked
		if errors.As(err, &panicked) {
			t.Fatal(panicked, panicked.Stack)
		}
		if cap(s.batch.x.Steps) > maxSteps+3 || cap(s.batch.memory) > 2*maxMemory || len(s.prepared.named) > maxStatements || len(s.portals.named) > maxPortals || len(s.tx.points) > maxSavepoints {
			t.Fatal("it keeps too much")
		}
		if l := server.ledger; l.taken() != 0 || len(l.shared) != 0 || s.prepared.keeps.bytes != 0 {
			t.Fatal("what it kept was not given back")
		}
		gate.mu.Lock()
		if len(gate.kept) > 1000 {
			clear(gate.kept)
		}
		gate.mu.Unlock()
	})
}

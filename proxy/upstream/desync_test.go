package upstream

import (
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// through has the pool's one connection read through what make gives.
func (b *bench) through(wrap func(in io.Reader) io.Reader) (pid uint32) {
	b.t.Helper()
	l, err := b.pool.acquire(b.t.Context(), ownTurn, 0, false)
	if err != nil {
		b.t.Fatal(err)
	}
	l.session.wire.in.From = wrap(l.session.wire.in.From)
	b.pool.release(l, ownTurn)
	return l.session.conn.PID()
}

// shaky panics once while it is read.
type shaky struct {
	io.Reader
	sound atomic.Bool
}

func (s *shaky) Read(b []byte) (int, error) {
	if !s.sound.Swap(true) {
		time.Sleep(100 * time.Millisecond) // the answer comes
		panic("a defect")
	}
	return s.Reader.Read(b)
}

// Ensure a connection on which a run panicked is not used again: the answer to it would be
// taken for the next one's.
func TestPanicCostsTheConnection(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	one, other := sel("SELECT $1::text AS v", str("secret")), sel("SELECT $1::text AS v", str("own"))
	one.server, other.server = "one", "other"
	b.must(one)
	b.through(func(in io.Reader) io.Reader { return &shaky{Reader: in} })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = b.query(one)
	}()
	if body := b.must(other); strings.Contains(body, "secret") {
		t.Errorf("the other server was given %s", body)
	}
}

// scripted gives what it has, and then nothing of what its server says.
type scripted struct {
	left []byte
	net.Conn
}

func (s *scripted) Read(b []byte) (int, error) {
	if len(s.left) > 0 {
		n := copy(b, s.left)
		s.left = s.left[n:]
		return n, nil
	}
	for {
		if _, err := s.Conn.Read(b); err != nil {
			return 0, err
		}
	}
}

// Ensure whatever comes in the place of a result's end is an error, costs the connection,
// and is not waited out where the server has said that it is gone; and that messages which
// are about nothing cost nothing.
func TestOddAnswers(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	st := sel("SELECT 1 AS v")
	st.limits.StatementTimeout = 3 * time.Second
	b.must(st) // it is kept when it is asked for again
	for name, tail := range map[string][]string{
		"copy out": {"H\x00\x00\x00"}, "copy in": {"G\x00\x00\x00"}, "empty query": {"I"}, "suspended": {"s"}, "early end": {"ZI"},
		"a failed transaction": {"CSELECT 1\x00", "ZE"}, "an open one": {"CSELECT 1\x00", "ZT"}, "no status": {"CSELECT 1\x00", "Z"},
		"fatal": {"ESFATAL\x00VFATAL\x00C57P01\x00Mgone\x00\x00"}, "an empty error": {"E\x00"}, "half an error": {"ESx"},
		"notices":   {"Nx", "Sa\x00b\x00", "Ax", "CSELECT 1\x00", "Nx", "ZI"},
		"left over": {"CSELECT 1\x00", "ZI", "D\x00\x01\x00\x00\x00\x012"},
	} {
		b.must(st)
		sound := []string{"2", "D\x00\x00", "C", "2", "D\x00\x01\x00\x00\x00\x011"}
		pid := b.through(func(io.Reader) io.Reader {
			return &scripted{frames(append(sound, tail...)...), b.conn()}
		})
		start := time.Now()
		body, err := b.query(st)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		if whole := name == "notices" || name == "left over"; whole != (err == nil) {
			t.Errorf("%s: got %s, %v", name, body, err)
		}
		again := b.through(func(in io.Reader) io.Reader { return in })
		if kept := again == pid; kept != (name == "notices") {
			t.Errorf("%s: the connection is kept: %v", name, kept)
		}
		b.pool.replace()
	}
}

// conn is the pool's one connection.
func (b *bench) conn() (c net.Conn) {
	b.pool.places.mu.Lock()
	defer b.pool.places.mu.Unlock()
	for s := range b.pool.places.open {
		if !s.closed.Load() {
			c = s
		}
	}
	return c
}

// crashing stands for a pooler that loses its server after the commit: it tells so behind the first
// messages of certain types.
type crashing struct {
	io.Reader
	behind string // the types, in their order
	left   []byte
	begun  bool
}

func (c *crashing) Read(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		time.Sleep(200 * time.Millisecond) // the server commits
		buf := make([]byte, 8192)
		n, err := c.Reader.Read(buf)
		if err != nil {
			return 0, err
		}
		end := 0
		for behind := c.behind; behind != ""; {
			kind, length, _ := frame.Peek(buf[end:n])
			end += length
			if kind == behind[0] {
				behind = behind[1:]
			}
		}
		c.left = append(buf[:end:end], frames("ESFATAL\x00VFATAL\x00C08P01\x00Mserver conn crashed?\x00\x00")...)
	}
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

// Ensure a write of which a pooler lost the answer is not run a second time, nor its caller told to do so, wherever
// the answer broke off.
func TestPoolerLosesACommittedWrite(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, NoPrepared: true}, "CREATE TABLE t (a int)")
	add := write("insert", false, "INSERT INTO t VALUES ($1)", num("7"))
	oid, err := strconv.ParseUint(b.one("SELECT 't'::regclass::oid"), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	add.shapes = []policy.Shape{{OID: uint32(oid), Columns: []string{"a"}}}
	b.must(add)
	for i, behind := range []string{"C", "C2", "C2C", "C2CC"} { // the prelude, Bind, the check of the shapes, the statement
		b.through(func(in io.Reader) io.Reader { return &crashing{Reader: in, behind: behind} })
		body, err := b.query(add)
		if e := refusal(t, err, "upstream_unavailable", behind+body); e.Retryable || !e.Unsettled || !strings.Contains(e.Message, notKnown) {
			t.Errorf("%s: got %+v", behind, e)
		}
		if n := b.one("SELECT count(*) FROM t"); n != strconv.Itoa(i+2) {
			t.Errorf("%s: %s rows after %d inserts", behind, n, i+2)
		}
	}
}

// Ensure a write of which something else is known than Postgres says is not committed: its caller is told to repeat it.
func TestMisdescribedWrite(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	add := write("insert", false, "INSERT INTO t VALUES ($1)", num("7"))
	wrong := frame.Description{Params: []uint32{23}, Columns: []frame.Column{{Name: "a", OID: 23}}, Row: []byte("\x00\x01a")}
	b.pool.descriptions.put(add.text(), described{Description: wrong}, b.pool.descriptions.epoch.Load())
	b.fail(add, proxy.SerializationFailure)
	if n := b.one("SELECT count(*) FROM t"); n != "0" {
		t.Errorf("%s rows", n)
	}
	b.must(add)
	if n := b.one("SELECT count(*) FROM t"); n != "1" {
		t.Errorf("%s rows", n)
	}
}

// Ensure nobody is told to repeat a write of which Postgres says something else than is known behind its commit.
func TestMisdescribedCommittedWrite(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	add := write("insert", false, "INSERT INTO t VALUES ($1) RETURNING a", num("7"))
	b.pool.descriptions.put(add.text(), described{Description: frame.Description{Params: []uint32{23}}}, b.pool.descriptions.epoch.Load())
	_, err := b.query(add)
	if e := refusal(t, err, proxy.UpstreamUnavailable, add.text()); e.Retryable || !e.Unsettled {
		t.Errorf("got %+v", e)
	}
	if n := b.one("SELECT count(*) FROM t"); n != "1" {
		t.Errorf("%s rows", n)
	}
}

// Ensure a text that waits for a lock while it is parsed takes its time limit once, whether
// it was described before or not, and that long arguments wait for its description.
func TestAnnouncedUnderALock(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a text)")
	st := sel("SELECT a FROM t WHERE a = $1", policy.Arg{Kind: policy.String, Text: strings.Repeat("x", 10)})
	st.limits.StatementTimeout = 1500 * time.Millisecond
	b.must(st)
	b.pool.replace()
	b.must(sel("SELECT 1"))
	b.exec("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
	start := time.Now()
	b.fail(st, "statement_timeout")
	if took := time.Since(start); took > 2900*time.Millisecond || b.rec.class(classStale) > 0 {
		t.Errorf("took %s, counted %v", took, b.rec.errors)
	}
	b.exec("ROLLBACK")
	st.params[0].Value.Text = strings.Repeat("x", 2*maxBehind)
	b.pool.replace()
	b.must(st)
}

// Ensure a read is not taken for a write because the client's write before it may have been committed.
func TestLostReadAfterALostWrite(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	for _, c := range []struct {
		text      string
		unsettled bool
	}{{"INSERT INTO notes (id, body) VALUES (3, 'c')", true}, {"SELECT body FROM notes", false}} {
		l.through(func(in io.Reader) io.Reader { return &crashing{Reader: in, behind: "C"} })
		_, _, err := l.run(proxy.Exchange{Commit: true, Steps: []proxy.Step{l.simple(c.text)}})
		if e := refusal(t, err, proxy.UpstreamUnavailable, c.text); e.Unsettled != c.unsettled || e.Retryable == c.unsettled {
			t.Errorf("%s: got %+v", c.text, e)
		}
	}
}

package upstream

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// frames are messages as a server sends them.
func frames(of ...string) []byte {
	var w wire
	for _, m := range of {
		at := w.out.Open(m[0])
		w.out.Raw([]byte(m[1:]))
		w.out.Shut(at)
	}
	return w.out.Buf
}

func receiving(in io.Reader) *wire {
	w := &wire{in: frame.Reader{From: in, Most: 100 << 10}}
	w.begin()
	return w
}

// Ensure messages come whole however the network cuts them, the long ones too, and those
// that are about nothing a run asked do not come at all.
func TestMessagesComeWhole(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), receiveSize+7))
	sent := frames("Da", "Nnotice", "D"+long, "Sname\x00value\x00", "D", "ZI")
	for name, in := range map[string]io.Reader{
		"at once": bytes.NewReader(sent), "byte by byte": iotest.OneByteReader(bytes.NewReader(sent)), "in halves": iotest.HalfReader(bytes.NewReader(sent)),
	} {
		w := receiving(in)
		for _, want := range []string{"Da", "D" + long, "D", "ZI"} {
			kind, body, err := w.next()
			if got := string(kind) + string(body); err != nil || got != want {
				t.Fatalf("%s: %.20q of %d bytes, %v", name, got, len(got), err)
			}
		}
		if !w.idle() || len(w.in.Buf) > receiveSize {
			t.Errorf("%s: %d bytes are kept", name, len(w.in.Buf))
		}
	}
}

// Ensure a message that is too long, or none at all, is an error before it is read.
func TestMessagesAreBounded(t *testing.T) {
	for want, sent := range map[error]string{
		frame.ErrTooLong: "D\x7f\xff\xff\xff", frame.ErrMalformed: "D\x00\x00\x00\x03", io.EOF: "D\x00\x00\x00\x05",
	} {
		w := receiving(bytes.NewReader([]byte(sent)))
		if _, _, err := w.next(); !errors.Is(err, want) || len(w.in.Buf) > receiveSize {
			t.Errorf("%q: %v, with %d bytes", sent, err, len(w.in.Buf))
		}
	}
}

// Ensure a wire on which anything is left that could be an answer is not used again.
func TestWhatIsLeftOnTheWire(t *testing.T) {
	for left, want := range map[string]bool{
		"": true, string(frames("Nnotice")): true, string(frames("Nnotice", "Sname\x00value\x00")): true,
		string(frames("Da")): false, string(frames("ZI")): false, string(frames("Eerror")): false, string(frames("Anotification")): false,
		string(frames("Nnotice"))[:8]: false, "N": false, "N\x00\x00\x00\x01": false,
	} {
		w := receiving(bytes.NewReader([]byte(string(frames("ZI")) + left)))
		if _, _, err := w.next(); err != nil {
			t.Fatal(err)
		}
		if got := w.idle(); got != want {
			t.Errorf("%q is left: idle is %v", left, got)
		}
	}
}

// Ensure the count of changed rows is the tag's last number, and that of what only read none.
func TestAffected(t *testing.T) {
	for tag, want := range map[string]int64{
		"INSERT 0 5\x00": 5, "UPDATE 12\x00": 12, "DELETE 0\x00": 0, "SELECT 7\x00": 0, "MERGE 3": 3, "": 0, "BEGIN\x00": 0,
	} {
		if got := affected([]byte(tag), "update"); got != want {
			t.Errorf("%q: %d", tag, got)
		}
	}
}

// Ensure a check of shapes may be long, and the rows behind it, too.
func TestLongShapes(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	st := sel("SELECT repeat('x', 1000) FROM generate_series(1, 900)")
	oid := pidOf(t, b.one("SELECT 't'::regclass::oid"))
	for range 4000 {
		st.shapes = append(st.shapes, policy.Shape{OID: uint32(oid), Columns: []string{"a"}})
	}
	b.must(st)
	b.exec("ALTER TABLE t ADD b int")
	b.fail(st, proxy.SerializationFailure)
}

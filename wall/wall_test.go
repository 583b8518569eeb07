package wall

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// The first test case of RFC 4231, whose key is shorter than a block.
func TestSignIsHMAC(t *testing.T) {
	k := Key{ID: 7, Secret: bytes.Repeat([]byte{0x0b}, 20)}
	const want = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
	if got := k.Sign("Hi There"); got != want {
		t.Errorf("signed %q", got)
	}
}

// Whatever the length of a server's id, the signature is that of the standard library.
func TestSignIsThatOfTheStandardLibrary(t *testing.T) {
	k := Key{ID: 12, Secret: bytes.Repeat([]byte{0x5c, 0x36}, Size/2)}
	for n := 1; n <= 3*block; n++ {
		server := strings.Repeat("s", n)
		mac := hmac.New(sha256.New, k.Secret)
		mac.Write([]byte(server))
		want := hex.EncodeToString(mac.Sum(nil))
		if got := k.Sign(server); got != want {
			t.Fatalf("%d bytes are signed %q, want %q", n, got, want)
		}
		if got := string(k.AppendSign([]byte("before "), server)); got != "before "+want {
			t.Fatalf("%d bytes: appended %q", n, got)
		}
	}
	if got := k.Sign(""); got != "" {
		t.Errorf("no server is signed %q", got)
	}
}

func TestSigningAllocatesNothing(t *testing.T) {
	k, dst := Key{ID: 1, Secret: bytes.Repeat([]byte{1}, Size)}, make([]byte, 0, 256)
	server := strings.Repeat("s", 64)
	if n := testing.AllocsPerRun(100, func() { dst = k.AppendSign(dst[:0], server) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSign(b *testing.B) {
	k, dst := Key{ID: 1, Secret: bytes.Repeat([]byte{1}, Size)}, make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		dst = k.AppendSign(dst[:0], "0190b2a7-6f6e-7c3d-9b1a-3c5d7e9f1a2b")
	}
}

// What the database computes from the pads is the same signature.
func TestPads(t *testing.T) {
	k := Key{ID: 1, Secret: bytes.Repeat([]byte{0xa5}, Size)}
	in, out := k.Pads()
	inner := sha256.Sum256(append(in, "srv_1"...))
	outer := sha256.Sum256(append(out, inner[:]...))
	if got := k.Sign("srv_1"); got != hex.EncodeToString(outer[:]) {
		t.Errorf("%q is not what the pads give", got)
	}
}

func TestExpression(t *testing.T) {
	for column, want := range map[string]string{
		"text": `"s""id" = (SELECT id FROM tenantgate_wall.server)`,
		"uuid": `"s""id" = (SELECT id::"pg_catalog"."uuid" FROM tenantgate_wall.server)`,
	} {
		if got := Expression(`s"id`, "pg_catalog", column); got != want {
			t.Errorf("%s: %s", column, got)
		}
	}
}

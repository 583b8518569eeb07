package wall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// The first test case of RFC 4231, whose key is shorter than a block.
func TestSignIsHMAC(t *testing.T) {
	k := Key{ID: 7, Secret: bytes.Repeat([]byte{0x0b}, 20)}
	const want = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
	if got := k.Sign("Hi There"); got != "7."+want+".Hi There" {
		t.Errorf("signed %q", got)
	}
}

// What the database computes from the pads is the same signature.
func TestPads(t *testing.T) {
	k := Key{ID: 1, Secret: bytes.Repeat([]byte{0xa5}, Size)}
	in, out := k.Pads()
	inner := sha256.Sum256(append(in, "srv_1"...))
	outer := sha256.Sum256(append(out, inner[:]...))
	if got := k.Sign("srv_1"); !strings.Contains(got, "."+hex.EncodeToString(outer[:])+".") {
		t.Errorf("%q is not what the pads give", got)
	}
}

func TestExpression(t *testing.T) {
	for column, want := range map[string]string{
		"text": `"s""id" = (SELECT tenantgate_wall.server())`,
		"uuid": `"s""id" = (SELECT tenantgate_wall.server()::"pg_catalog"."uuid")`,
	} {
		if got := Expression(`s"id`, "pg_catalog", column); got != want {
			t.Errorf("%s: %s", column, got)
		}
	}
}

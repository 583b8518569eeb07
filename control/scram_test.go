package control

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

// Ensure the derivation is that of RFC 7677: its example's messages verify.
func TestTheExampleOfRFC7677(t *testing.T) {
	const (
		nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
		heard = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=" + nonce + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=" + nonce
	)
	stored, server, err := loginKeys("pencil", unbase64(t, "W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
	if err != nil {
		t.Fatal(err)
	}
	proof, signature := unbase64(t, "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), hmacOf(stored[:], heard)
	for i := range proof {
		proof[i] ^= signature[i]
	}
	if sha256.Sum256(proof) != stored {
		t.Error("the client's proof does not verify")
	}
	if want := unbase64(t, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="); !bytes.Equal(hmacOf(server[:], heard), want) {
		t.Error("the server's signature differs")
	}
}

// Ensure Postgres derives the same from a key as we do.
func TestPostgresDerivesTheSame(t *testing.T) {
	role := testRole(t)
	admin := pgtest.Cluster(t).AdminURL("postgres")
	for range 3 {
		key, _ := mint(keyPrefix)
		exec(t, admin, "SET password_encryption = 'scram-sha-256'; ALTER ROLE "+role+" PASSWORD '"+key+"'")
		kept := query[string](t, admin, "SELECT rolpassword FROM pg_authid WHERE rolname = $1", role)
		fields := strings.FieldsFunc(kept, func(r rune) bool { return r == '$' || r == ':' }) // SCRAM-SHA-256$<iterations>:<salt>$<stored>:<server>
		if len(fields) != 5 || fields[1] != fmt.Sprint(loginIterations) {
			t.Fatalf("Postgres keeps %.20s… of %d fields", kept, len(fields))
		}
		salt := unbase64(t, fields[2])
		if len(salt) != saltLen {
			t.Errorf("Postgres' salt has %d bytes", len(salt))
		}
		stored, server, err := loginKeys(key, salt, loginIterations)
		if err != nil || !bytes.Equal(stored[:], unbase64(t, fields[3])) || !bytes.Equal(server[:], unbase64(t, fields[4])) {
			t.Errorf("Postgres derives otherwise: %v", err)
		}
	}
}

// Ensure salts are the specified ones, whatever the id, and differ from one id to the other.
func TestSalts(t *testing.T) {
	secret, seen := saltSecret{1, 2, 3}, map[string]bool{}
	for _, id := range []string{"", "a", "b", "a b", "\x00\xff", strings.Repeat("x", 5000), newID()} {
		mac := hmac.New(sha256.New, secret[:])
		mac.Write([]byte(id))
		got := secret.salt(id)
		if !bytes.Equal(got, mac.Sum(nil)[:16]) || cap(got) != 16 {
			t.Errorf("%.20q: %x", id, got)
		}
		seen[string(got)] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d different salts", len(seen))
	}
}

func unbase64(t *testing.T, text string) []byte {
	t.Helper()
	return must[[]byte](t)(base64.StdEncoding.DecodeString(text))
}

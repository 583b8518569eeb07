package control

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"

	"github.com/tenantgate/tenantgate/proxy"
)

// loginIterations is the least that RFC 7677 allows, and what Postgres takes. More of them
// make guessing a password dearer; nobody guesses 256 random bits, and every client would
// pay for them at every connection.
const loginIterations = 4096

const saltLen = 16 // bytes; as Postgres'

// saltSecret is what the salts are derived from.
type saltSecret [32]byte

// salt gives a server's salt, and of an id that is no server's one like any other. All keys
// of a server share it: the client is told it before it tells which of them it holds.
func (s *saltSecret) salt(serverID string) []byte {
	return hmacOf(s[:], serverID)[:saltLen:saltLen]
}

// loginKeys derives what SCRAM-SHA-256 checks a password against (RFC 5802 section 3, RFC
// 7677). The text must be ASCII, as ours is: SASLprep, which a client applies, leaves that as it is.
func loginKeys(text string, salt []byte, iterations int) (stored, server [sha256.Size]byte, err error) {
	salted, err := pbkdf2.Key(sha256.New, text, salt, iterations, sha256.Size)
	if err != nil {
		return stored, server, err
	}
	stored = sha256.Sum256(hmacOf(salted, "Client Key"))
	server = [sha256.Size]byte(hmacOf(salted, "Server Key"))
	return stored, server, nil
}

func hmacOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// newKey is a server's key as it is made: the text, which is shown once, and what is kept.
type newKey struct {
	text string
	kept proxy.VerifierKey
}

// mintKey makes a key for a server that exists or is about to.
func (s *Store) mintKey(serverID string) (k newKey, err error) {
	text, d := mint(keyPrefix)
	k = newKey{text: text, kept: proxy.VerifierKey{ID: proxy.KeyID(d)}}
	k.kept.Stored, k.kept.Server, err = loginKeys(text, s.salts.salt(serverID), loginIterations)
	if err != nil {
		return newKey{}, proxy.AsError(err)
	}
	return k, nil
}

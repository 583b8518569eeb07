package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"hash/crc32"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// A credential is a prefix that tells its kind, secretLen characters of randomness, and
// the CRC-32 (IEEE 802.3) of both in checkLen base62 digits. The checksum is no secret: it
// lets a typo be refused without the store, and a scanner for leaked secrets be sure.
const (
	tokenPrefix = "tg_dev_" // a developer's access token
	keyPrefix   = "tg_srv_" // a server's API key

	secretLen = 43 // 62^43 > 2^256
	checkLen  = 6  // 62^6 > 2^32

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// digest is the SHA-256 of a credential's text, all that is kept of it
// but for what a server's key is checked against as a password (scram.go).
type digest [sha256.Size]byte

// digestOf hashes on the stack what is no longer than the longest id.
func digestOf(text string) digest {
	var buffer [maxID]byte
	return sha256.Sum256(append(buffer[:0], text...))
}

// equal compares in constant time. That the store finds a row through an index on the
// digest tells an observer nothing: to choose digests one must invert SHA-256.
func (d digest) equal(other digest) bool { return subtle.ConstantTimeCompare(d[:], other[:]) == 1 }

// mint makes a new credential. The text is shown once; only the digest is kept.
func mint(prefix string) (text string, d digest) {
	body := prefix + randomBase62(secretLen)
	check := checksum(body)
	text = body + string(check[:])
	return text, digestOf(text)
}

// randomBase62 gives n characters, each of the 62 equally likely: bytes beyond the
// largest multiple of 62 are thrown away, since taking them modulo 62 would favour some.
func randomBase62(n int) string {
	const fair = 256 - 256%62
	out := make([]byte, 0, n)
	var pool [64]byte
	for len(out) < n {
		_, _ = rand.Read(pool[:]) // never fails: it ends the process instead
		for _, b := range pool {
			if b < fair && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}

// checksum goes by the table, since the library's own sum would put a copy of the text on
// the heap.
func checksum(body string) (out [checkLen]byte) {
	sum := ^uint32(0)
	for i := range len(body) {
		sum = crc32.IEEETable[(sum^uint32(body[i]))&0xff] ^ sum>>8
	}
	sum = ^sum
	for i := checkLen - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return out
}

// parse gives the digest of a credential of this kind, and false for a text that no mint
// has made: wrong prefix, length, character or checksum.
func parse(prefix, text string) (digest, bool) {
	if len(text) != len(prefix)+secretLen+checkLen || !strings.HasPrefix(text, prefix) {
		return digest{}, false
	}
	body, check := text[:len(text)-checkLen], text[len(text)-checkLen:]
	for i := len(prefix); i < len(body); i++ {
		if !isBase62(body[i]) {
			return digest{}, false
		}
	}
	if sum := checksum(body); string(sum[:]) != check {
		return digest{}, false
	}
	return digestOf(text), true
}

func isBase62(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// unauthorized is the one answer to every credential that its sender may have guessed: malformed, unknown, or of
// another server.
func unauthorized() *proxy.Error {
	return proxy.Refuse(proxy.Unauthorized, "the credentials are missing, malformed, unknown or no longer valid")
}

// keyForToken is the answer to what has the prefix of an API key where an access token belongs, and tokenForKey the
// other way round. The prefix alone decides, so that neither says whether the credential exists.
func keyForToken() *proxy.Error {
	return proxy.Refuse(proxy.Unauthorized, "this is an API key, not an access token: send it as X-API-Key, with the server's id as X-Server-ID, "+
		"to GET /api/auth/user/by-email, or use it as the password of a Postgres client; here send a developer's access token ("+tokenPrefix+"…)")
}

func tokenForKey() *proxy.Error {
	return proxy.Refuse(proxy.Unauthorized, "this is an access token, not an API key: send it as Authorization: Bearer <token> "+
		"to the endpoints under /api/developer; here send the API key ("+keyPrefix+"…) of the server that X-Server-ID names")
}

// newToken is what the holder of a token that has ended can do.
const newToken = "; ask for a new one, which an operator makes with tenantgate token create"

// expiredToken and revokedToken are for who has presented a token that the store knows, and so holds it.
func expiredToken(at time.Time, instead string) *proxy.Error {
	return proxy.Refuse(proxy.Unauthorized, "this access token expired at "+at.UTC().Format("2006-01-02T15:04:05.000Z07:00")+instead)
}

func revokedToken() *proxy.Error {
	return proxy.Refuse(proxy.Unauthorized, "this access token was revoked"+newToken)
}

// Package wall has what tenantgate and the database agree on so that row-level security
// can distinguish the servers: the third wall, which holds even if a statement got past the
// policy.
//
// Two settings are sent with each statement, for its transaction only: the server's id and a
// signature of it. A view in the database, which reads with its owner's rights, verifies
// the signature with keys that nobody else can read and returns the server's id; without
// a valid signature it has no row. A policy on each scoped table compares the scope column
// with it. So a statement that reached set_config could select only its own
// server, whose signature is the only one that it has ever seen.
//
// The package is pure: texts and arithmetic. Package control creates the objects in the
// database, and package doctor checks them.
package wall

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The names of what the database holds.
const (
	Setting   = "tenantgate.server"    // the run-time setting that names the server
	Signature = "tenantgate.signature" // the one that holds what Sign gives for it
	Schema    = "tenantgate_wall"      // holds the keys and the view
	Server    = Schema + ".server"     // the view: id, the signed server's as text, or no row
	Policy    = "tenantgate_server"    // the row-level security policy of each scoped table
	Keys      = Schema + ".keys"       // id, inner, outer: what Pads gives
	Database  = Schema + ".database"   // one row, its id: tells this database and its copies from others
	Secrets   = "tenantgate.wall_keys" // the control store's table of secrets, which may be in the same database
	block     = sha256.BlockSize       // of HMAC, RFC 2104
	Size      = sha256.Size            // bytes of a key's secret
	inner     = 0x36                   // RFC 2104's ipad
	outer     = 0x5c                   // and opad
)

// Key signs server ids. ID tells the keys apart while two are valid. The zero value
// signs nothing that the database would accept.
type Key struct {
	ID     int32
	Secret []byte // Size random bytes; never logged
}

// Sign gives the value of Signature for a server: HMAC-SHA256 (RFC 2104) of its id, in hex.
// No server, "", has no signature: "", which the database never accepts.
func (k Key) Sign(server string) string {
	var text [2 * Size]byte // on the stack
	return string(k.AppendSign(text[:0], server))
}

// AppendSign appends what Sign gives. It goes with every statement: it allocates nothing
// where dst has room and the server's id at most 64 bytes.
func (k Key) AppendSign(dst []byte, server string) []byte {
	if server == "" {
		return dst
	}
	in, out := k.pads()
	var scratch [2 * block]byte
	message := append(append(scratch[:0], in[:]...), server...)
	digest := sha256.Sum256(message)
	message = append(append(message[:0], out[:]...), digest[:]...)
	digest = sha256.Sum256(message)
	return hex.AppendEncode(dst, digest[:])
}

// Pads gives what the database keeps of a key: the secret, filled up to a block, XORed
// with RFC 2104's two pads. HMAC is then sha256(outer || sha256(inner || message)), for
// which Postgres needs no extension.
func (k Key) Pads() (in, out []byte) {
	i, o := k.pads()
	return i[:], o[:]
}

func (k Key) pads() (in, out [block]byte) {
	copy(in[:], k.Secret)
	copy(out[:], k.Secret)
	for i := range block {
		in[i] ^= inner
		out[i] ^= outer
	}
	return in, out
}

// Expression is the condition of Policy on a table: its scope column, of that type, is the
// signed server's id. The sub-select is evaluated once per reference to the table, not
// per row.
func Expression(column, typeSchema, typeName string) string {
	id := "id"
	if typeSchema != "pg_catalog" || typeName != "text" {
		id += "::" + quote(typeSchema) + "." + quote(typeName)
	}
	return quote(column) + " = (SELECT " + id + " FROM " + Server + ")"
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

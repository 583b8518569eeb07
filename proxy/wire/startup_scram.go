package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"

	"github.com/tenantgate/tenantgate/proxy"
)

// The mechanisms.
const (
	scramPlain = "SCRAM-SHA-256"
	scramPlus  = "SCRAM-SHA-256-PLUS"

	bindingType = "tls-server-end-point"
)

// scram is the server's end of one authentication by SCRAM (RFC 5802, RFC 7677). It is ours
// because a server may have several keys that are valid, all with one salt, and because who
// has none is to be worked for as hard as who has.
type scram struct {
	verifier proxy.Verifier
	madeUp   proxy.VerifierKey // is tried where there are fewer keys than leastTried
	binding  []byte            // what channel binding must name; nil: -PLUS was not offered
	mac      func(key, text []byte) [32]byte

	header      []byte // of the client's first message, its part about channel binding
	clientFirst []byte // its rest
	serverFirst []byte
	nonce       []byte // the client's and ours
}

// leastTried is how many keys are tried at least: of one that is being replaced, the old one
// and the new, so that nothing tells whether a server has two, one or none.
const leastTried = 2

// What is wrong with a message of SCRAM's.
var (
	errScram      = &fatal{state: "08P01", code: "invalid_request", message: "malformed SCRAM message"}
	errScramNonce = &fatal{state: "08P01", code: "invalid_request", message: "invalid SCRAM response", hint: "The nonce does not match."}
	errBinding    = &fatal{state: "28000", code: "unauthorized", message: "SCRAM channel binding check failed",
		hint: "The certificate that the client has seen is not that of this service."}
	errDowngrade = &fatal{state: "28000", code: "unauthorized", message: "SCRAM channel binding negotiation error",
		hint: "The client supports channel binding but thinks that this service does not. It does."}
	errBindingType = &fatal{state: "08P01", code: "invalid_request", message: "unsupported SCRAM channel-binding type"}
	errAuthzid     = &fatal{state: "0A000", code: "invalid_request", message: "client uses authorization identity, but it is not supported"}
	errExtension   = &fatal{state: "0A000", code: "invalid_request", message: "client requires an unsupported SCRAM extension"}
)

// first takes the client's first message and gives the answer.
func (s *scram) first(message []byte, plus bool) ([]byte, error) {
	header, rest, err := s.splitHeader(message, plus)
	if err != nil {
		return nil, err
	}
	s.header, s.clientFirst = bytes.Clone(header), bytes.Clone(rest)
	if bytes.HasPrefix(rest, []byte("m=")) {
		return nil, errExtension
	}
	_, rest, named := attribute(rest, 'n') // the user is the start-up message's
	nonce, rest, nonced := attribute(rest, 'r')
	if !named || !nonced || len(nonce) == 0 || !printableASCII(nonce) || !extensions(rest) {
		return nil, errScram
	}
	s.nonce = appendNonce(bytes.Clone(nonce))
	s.serverFirst = append(append([]byte("r="), s.nonce...), ",s="...)
	s.serverFirst = base64.StdEncoding.AppendEncode(s.serverFirst, s.verifier.Salt)
	s.serverFirst = strconv.AppendInt(append(s.serverFirst, ",i="...), int64(s.verifier.Iterations), 10)
	return s.serverFirst, nil
}

// splitHeader checks what the client says about channel binding, and splits it off.
func (s *scram) splitHeader(message []byte, plus bool) (header, rest []byte, err error) {
	flag, rest, whole := bytes.Cut(message, comma)
	authzid, rest, split := bytes.Cut(rest, comma)
	name, binds := bytes.CutPrefix(flag, []byte("p="))
	switch {
	case !whole || !split:
		return nil, nil, errScram
	case binds != plus:
		return nil, nil, errScram
	case binds && string(name) != bindingType:
		return nil, nil, errBindingType
	case !binds && string(flag) != "n" && string(flag) != "y":
		return nil, nil, errScram
	case string(flag) == "y" && s.binding != nil:
		return nil, nil, errDowngrade
	case bytes.HasPrefix(authzid, []byte("a=")):
		return nil, nil, errAuthzid
	case len(authzid) > 0:
		return nil, nil, errScram
	}
	return message[:len(message)-len(rest)], rest, nil
}

// final takes the client's last message. It gives the key that it proves to hold, and the
// answer that proves the same of us; false when there is none.
func (s *scram) final(message []byte) (key proxy.KeyID, answer []byte, proved bool, err error) {
	at := bytes.LastIndex(message, []byte(",p="))
	if at < 0 {
		return key, nil, false, errScram
	}
	proof, err := decodeProof(message[at+3:])
	if err != nil {
		return key, nil, false, err
	}
	if err := s.checkFinal(message[:at]); err != nil {
		return key, nil, false, err
	}
	text := bytes.Join([][]byte{s.clientFirst, s.serverFirst, message[:at]}, comma)
	held, proved := s.prove(proof, text)
	if !proved {
		return key, nil, false, nil
	}
	signature := s.mac(held.Server[:], text)
	return held.ID, base64.StdEncoding.AppendEncode([]byte("v="), signature[:]), true, nil
}

// checkFinal checks the client's last message but for its proof.
func (s *scram) checkFinal(message []byte) error {
	channel, rest, bound := attribute(message, 'c')
	nonce, rest, nonced := attribute(rest, 'r')
	if !bound || !nonced || !extensions(rest) {
		return errScram
	}
	if subtle.ConstantTimeCompare(nonce, s.nonce) != 1 {
		return errScramNonce
	}
	want := bytes.Clone(s.header)
	if s.header[0] == 'p' {
		want = append(want, s.binding...)
	}
	if subtle.ConstantTimeCompare(channel, base64.StdEncoding.AppendEncode(nil, want)) != 1 {
		return errBinding
	}
	return nil
}

// prove finds the key that the proof is of. It tries all of them, and made up ones where
// there are few: the work does not tell which it was, nor whether there was any.
func (s *scram) prove(proof [32]byte, text []byte) (held proxy.VerifierKey, proved bool) {
	found := 0
	for i := range max(len(s.verifier.Keys), leastTried) {
		key, valid := &s.madeUp, 0
		if i < len(s.verifier.Keys) {
			key, valid = &s.verifier.Keys[i], 1
		}
		signature := s.mac(key.Stored[:], text)
		subtle.XORBytes(signature[:], signature[:], proof[:]) // now it is ClientKey, if the proof is of this key
		stored := sha256.Sum256(signature[:])
		same := valid & subtle.ConstantTimeCompare(stored[:], key.Stored[:])
		subtle.ConstantTimeCopy(same, held.ID[:], key.ID[:])
		subtle.ConstantTimeCopy(same, held.Server[:], key.Server[:])
		found |= same
	}
	return held, found == 1
}

// decodeProof reads a proof, which is written in one way only.
func decodeProof(text []byte) (proof [32]byte, err error) {
	if len(text) != base64.StdEncoding.EncodedLen(len(proof)) { // line ends would be passed over
		return proof, errScram
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != len(proof) {
		return proof, errScram
	}
	return [32]byte(raw), nil
}

var comma = []byte{','}

// attribute splits the attribute of a name off the begin of a message, and the comma that
// follows it.
func attribute(message []byte, name byte) (value, rest []byte, ok bool) {
	if len(message) < 2 || message[0] != name || message[1] != '=' {
		return nil, nil, false
	}
	value, rest, more := bytes.Cut(message[2:], comma)
	return value, rest, !more || len(rest) > 0
}

// extensions tells whether a message ends in attributes only. They are passed over.
func extensions(rest []byte) bool {
	for len(rest) > 0 {
		letter := rest[0] | 0x20
		if letter < 'a' || letter > 'z' {
			return false
		}
		value, after, ok := attribute(rest, rest[0])
		if !ok || bytes.IndexByte(value, 0) >= 0 {
			return false
		}
		rest = after
	}
	return true
}

// printableASCII tells whether a text is of the characters that a nonce may have, but for
// the comma.
func printableASCII(text []byte) bool {
	for _, b := range text {
		if b < 0x21 || b > 0x7e {
			return false
		}
	}
	return true
}

// nonceBytes is how much of a nonce is ours, as in Postgres.
const nonceBytes = 18

func appendNonce(nonce []byte) []byte {
	var ours [nonceBytes]byte
	_, _ = rand.Read(ours[:]) // it never fails
	return base64.StdEncoding.AppendEncode(nonce, ours[:])
}

func hmacSHA256(key, text []byte) (sum [32]byte) {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(text) // it never fails
	h.Sum(sum[:0])
	return sum
}

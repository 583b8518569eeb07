package wire

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// The example of RFC 7677, section 3: with its nonce, our answer is its answer.
func TestExampleOfTheRFC(t *testing.T) {
	salt, _ := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	s := &scram{mac: hmacSHA256, verifier: proxy.Verifier{Salt: salt, Iterations: 4096}}
	if _, err := s.first([]byte("n,,n=user,r=rOprNGfwEbeRWgbNEkqO"), false); err != nil {
		t.Fatal(err)
	}
	s.nonce = []byte("rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
	s.serverFirst = []byte("r=" + string(s.nonce) + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
	pencil := keyWith("pencil", salt)
	pencil.ID[0] = 7
	s.verifier.Keys = []proxy.VerifierKey{keyOf("another"), pencil, keyOf("a third")}
	key, answer, proved, err := s.final([]byte("c=biws,r=" + string(s.nonce) + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="))
	if err != nil || !proved || string(answer) != "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" || key[0] != 7 {
		t.Errorf("got %q %v %v", answer, proved, err)
	}
}

// begin is an authentication with a client's first message taken.
func begin(t *testing.T, first string, binding []byte, keys ...proxy.VerifierKey) (s *scram, text string) {
	t.Helper()
	s = &scram{mac: hmacSHA256, madeUp: keyOf("made up"), binding: binding,
		verifier: proxy.Verifier{Salt: testSalt, Iterations: testIterations, Keys: keys}}
	answer, err := s.first([]byte(first), strings.HasPrefix(first, "p="))
	if err != nil {
		t.Fatal(err)
	}
	return s, string(s.clientFirst) + "," + string(answer) + ","
}

// The work is the same for every name and every password, and so is what comes of it; a
// made-up key opens nothing.
func TestWorkDoesNotTell(t *testing.T) {
	for name, c := range map[string]struct {
		keys     []proxy.VerifierKey
		password string
		proved   bool
	}{
		"unknown server":           {nil, "x", false},
		"unknown, the made-up key": {nil, "made up", false},
		"wrong":                    {[]proxy.VerifierKey{keyOf("a")}, "x", false},
		"one, the made-up key":     {[]proxy.VerifierKey{keyOf("a")}, "made up", false},
		"wrong of two":             {[]proxy.VerifierKey{keyOf("a"), keyOf("b")}, "x", false},
		"only":                     {[]proxy.VerifierKey{keyOf("a")}, "a", true},
		"first":                    {[]proxy.VerifierKey{keyOf("a"), keyOf("b")}, "a", true},
		"second":                   {[]proxy.VerifierKey{keyOf("a"), keyOf("b")}, "b", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, text := begin(t, "n,,n=,r=abc", nil, c.keys...)
			hashes := 0
			s.mac = func(key, text []byte) [32]byte { hashes++; return hmacSHA256(key, text) }
			without := "c=biws,r=" + string(s.nonce)
			key, answer, proved, err := s.final([]byte(proofFor(c.password, without, text+without)))
			if err != nil || proved != c.proved || (answer != nil) != c.proved {
				t.Fatalf("proved %v, answer %q, %v", proved, answer, err)
			}
			if want := keyOf(c.password).ID; proved && key != want || !proved && key != (proxy.KeyID{}) {
				t.Errorf("the key is %x", key)
			}
			if want := leastTried; !proved && hashes != want {
				t.Errorf("%d hashes, want %d", hashes, want)
			}
		})
	}
}

func TestFirstMessage(t *testing.T) {
	bound := []byte("certificate")
	for message, c := range map[string]struct {
		binding []byte
		plus    bool
		want    error
	}{
		"n,,n=,r=abc":                           {nil, false, nil},
		"n,,n=shop,r=a!~":                       {nil, false, nil},
		"y,,n=,r=abc":                           {nil, false, nil},
		"n,,n=,r=abc,x=1,y=":                    {bound, false, nil},
		"p=tls-server-end-point,,n=,r=abc":      {bound, true, nil},
		"y,,n=,r=abcd":                          {bound, false, errDowngrade},
		"p=tls-unique,,n=,r=abc":                {bound, true, errBindingType},
		"p=tls-server-end-point,,n=,r=abcd":     {bound, false, errScram}, // not the mechanism
		"n,,n=,r=plus":                          {bound, true, errScram},
		"n,a=other,n=,r=abc":                    {nil, false, errAuthzid},
		"n,b,n=,r=abc":                          {nil, false, errScram},
		"n,,m=ext,n=,r=abc":                     {nil, false, errExtension},
		"":                                      {nil, false, errScram},
		"n":                                     {nil, false, errScram},
		"n,":                                    {nil, false, errScram},
		"n,,":                                   {nil, false, errScram},
		"n,,n=":                                 {nil, false, errScram},
		"n,,n=,":                                {nil, false, errScram},
		"n,,n=,r=":                              {nil, false, errScram},
		"n,,n=,r=a b":                           {nil, false, errScram},
		"n,,n=,r=a\x7f":                         {nil, false, errScram},
		"n,,n=,r=a\x00":                         {nil, false, errScram},
		"n,,n=,r=abc,":                          {nil, false, errScram},
		"n,,n=,r=abc,xyz":                       {nil, false, errScram},
		"n,,n=,r=abc,1=2":                       {nil, false, errScram},
		"n,,r=abc":                              {nil, false, errScram},
		"z,,n=,r=abc":                           {nil, false, errScram},
		"p,,n=,r=abc":                           {bound, true, errScram},
		"n,,x=,r=abc":                           {nil, false, errScram},
		"nn,,n=,r=abc":                          {nil, false, errScram},
		"p=tls-server-end-point,a=x,n=,r=abcde": {bound, true, errAuthzid},
	} {
		s := &scram{mac: hmacSHA256, binding: c.binding, verifier: verifierOf("a")}
		answer, err := s.first([]byte(message), c.plus)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%q: got %v, want %v", message, err, c.want)
		}
		if err == nil && !strings.HasSuffix(string(answer), ",s="+b64(testSalt)+",i=4096") {
			t.Errorf("%q: answered %q", message, answer)
		}
	}
}

func TestFinalMessage(t *testing.T) {
	const plain, yes, plus = "n,,n=,r=abc", "y,,n=,r=abc", "p=tls-server-end-point,,n=,r=abc"
	hash := []byte("hash")
	header := func(first string, binding string) string { return "c=" + b64([]byte(first+binding)) }
	for name, c := range map[string]struct {
		first   string
		binding []byte
		without string // "R" stands for the nonce
		spoil   func(string) string
		want    error
		proved  bool
	}{
		"right":                {plain, nil, "c=biws,r=R", nil, nil, true},
		"with an extension":    {plain, nil, "c=biws,r=R,x=y", nil, nil, true},
		"y":                    {yes, nil, header("y,,", ""), nil, errScram, false},
		"y, right":             {yes, nil, header("y,,", "") + ",r=R", nil, nil, true},
		"bound":                {plus, hash, header("p=tls-server-end-point,,", "hash") + ",r=R", nil, nil, true},
		"bound to another":     {plus, hash, header("p=tls-server-end-point,,", "hush") + ",r=R", nil, errBinding, false},
		"bound to less":        {plus, hash, header("p=tls-server-end-point,,", "has") + ",r=R", nil, errBinding, false},
		"bound to nothing":     {plus, hash, header("p=tls-server-end-point,,", "") + ",r=R", nil, errBinding, false},
		"another flag":         {plain, nil, header("y,,", "") + ",r=R", nil, errBinding, false},
		"plain after plus":     {plus, hash, "c=biws,r=R", nil, errBinding, false},
		"binding after plain":  {plain, hash, header("p=tls-server-end-point,,", "hash") + ",r=R", nil, errBinding, false},
		"the client's nonce":   {plain, nil, "c=biws,r=abc", nil, errScramNonce, false},
		"another nonce":        {plain, nil, "c=biws,r=Rx", nil, errScramNonce, false},
		"no nonce":             {plain, nil, "c=biws", nil, errScram, false},
		"no channel":           {plain, nil, "r=R", nil, errScram, false},
		"no proof":             {plain, nil, "c=biws,r=R", func(s string) string { return s[:strings.Index(s, ",p=")] }, errScram, false},
		"a short proof":        {plain, nil, "c=biws,r=R", func(s string) string { return s[:len(s)-4] }, errScram, false},
		"a long proof":         {plain, nil, "c=biws,r=R", func(s string) string { return s + "AAAA" }, errScram, false},
		"no base64":            {plain, nil, "c=biws,r=R", func(s string) string { return s[:len(s)-2] + "!=" }, errScram, false},
		"bits behind the end":  {plain, nil, "c=biws,r=R", lastBits, errScram, false},
		"a line end in base64": {plain, nil, "c=biws,r=R", func(s string) string { return s[:len(s)-5] + "\n" + s[len(s)-4:] }, errScram, false},
		"empty":                {plain, nil, "", func(string) string { return "" }, errScram, false},
		"something behind":     {plain, nil, "c=biws,r=R", func(s string) string { return s + ",x=y" }, errScram, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, text := begin(t, c.first, c.binding, keyOf("a"))
			without := strings.ReplaceAll(c.without, "R", string(s.nonce))
			message := proofFor("a", without, text+without)
			if c.spoil != nil {
				message = c.spoil(message)
			}
			_, _, proved, err := s.final([]byte(message))
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || proved != c.proved {
				t.Errorf("got %v %v", proved, err)
			}
		})
	}
}

// lastBits sets bits of the last character that are not part of the proof.
func lastBits(message string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	at := len(message) - 2
	return message[:at] + string(alphabet[strings.IndexByte(alphabet, message[at])|1]) + message[at+1:]
}

// Whatever a client writes: no panic, no proof, and nothing that is longer than its message.
func FuzzScram(f *testing.F) {
	f.Add([]byte("n,,n=,r=abc"), []byte("c=biws,r=R,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), false)
	f.Add([]byte("p=tls-server-end-point,,n=,r=abc"), []byte("c=,r=R,x=,p="), true)
	madeUp := keyOf("made up")
	f.Fuzz(func(t *testing.T, first, final []byte, plus bool) {
		s := &scram{mac: hmacSHA256, madeUp: madeUp, verifier: proxy.Verifier{Salt: testSalt, Iterations: 1}}
		if plus {
			s.binding = []byte("hash")
		}
		if _, err := s.first(first, plus); err != nil {
			s.header = []byte("n,,")
		}
		s.nonce = []byte("R")
		if _, _, proved, _ := s.final(final); proved {
			t.Errorf("%q %q proved something", first, final)
		}
	})
}

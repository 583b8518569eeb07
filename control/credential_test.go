package control

import (
	"crypto/sha256"
	"hash/crc32"
	"math"
	"strings"
	"testing"
)

func TestMintedCredentialsHaveTheShapeOfTheInterface(t *testing.T) {
	for _, prefix := range []string{tokenPrefix, keyPrefix} {
		seen := map[string]bool{}
		for range 1000 {
			text, d := mint(prefix)
			if len(text) != len(prefix)+43+6 || !strings.HasPrefix(text, prefix) || strings.Trim(text[len(prefix):], base62) != "" {
				t.Fatalf("%s credential has the wrong shape", prefix)
			}
			if got, ok := parse(prefix, text); !ok || got != d || d != digestOf(text) {
				t.Fatalf("a minted %s credential is not parsed", prefix)
			}
			if seen[text] {
				t.Fatal("minted the same twice")
			}
			seen[text] = true
		}
	}
}

func TestMalformedCredentialsAreNotParsed(t *testing.T) {
	good, _ := mint(tokenPrefix)
	other, _ := mint(keyPrefix)
	foreign := tokenPrefix + strings.Repeat("-", secretLen)
	sum := checksum(foreign)
	cases := map[string]string{
		"foreign characters, good checksum": foreign + string(sum[:]),
		"empty":                             "", "prefix only": tokenPrefix, "other kind": other, "short": good[:len(good)-1], "long": good + "0",
		"space": good[:20] + " " + good[21:], "not ASCII": good[:20] + "é" + good[22:], "NUL": good[:20] + "\x00" + good[21:],
		"case of the prefix": "TG_dev_" + good[7:], "leading space": " " + good[:len(good)-1],
	}
	for name, text := range cases {
		if _, ok := parse(tokenPrefix, text); ok {
			t.Errorf("%s: parsed", name)
		}
	}
}

// What is stored is the SHA-256 of all of a text, however long.
func TestDigestsAreSHA256(t *testing.T) {
	for n := range 300 {
		text := strings.Repeat("x", n) + "y"
		if digestOf(text) != sha256.Sum256([]byte(text)) {
			t.Fatalf("%d bytes", len(text))
		}
	}
}

// The checksum is the one that anybody's library computes.
func TestTheChecksumIsCRC32(t *testing.T) {
	for range 100 {
		text, _ := mint(tokenPrefix)
		body, check := text[:len(text)-checkLen], uint32(0)
		for _, c := range []byte(text[len(body):]) {
			check = check*62 + uint32(strings.IndexByte(base62, c)) //nolint:gosec // it is one of them
		}
		if want := crc32.ChecksumIEEE([]byte(body)); check != want {
			t.Fatalf("%s carries %d, not %d", text, check, want)
		}
	}
}

// Every byte that is not of base62 is refused, though the checksum be right.
func TestForeignCharactersAreNotParsed(t *testing.T) {
	good, _ := mint(tokenPrefix)
	for c := range 256 {
		body := good[:20] + string([]byte{byte(c)}) + good[21:len(good)-checkLen]
		sum := checksum(body)
		if _, ok := parse(tokenPrefix, body+string(sum[:])); ok != (strings.IndexByte(base62, byte(c)) >= 0) {
			t.Errorf("character %q: parsed %v", rune(c), ok)
		}
	}
}

// Every change of one character is found: CRC-32 finds all bursts of up to 32 bits.
func TestTheChecksumFindsEveryTypo(t *testing.T) {
	good, _ := mint(keyPrefix)
	for i := len(keyPrefix); i < len(good); i++ {
		for _, c := range []byte(base62) {
			if c == good[i] {
				continue
			}
			if _, ok := parse(keyPrefix, good[:i]+string(c)+good[i+1:]); ok {
				t.Fatalf("a typo at %d passed", i)
			}
		}
	}
}

// The characters are equally likely: chi-squared over 61 degrees of freedom stays below
// 150 but once in some 10^8 runs. Bytes modulo 62 would reach 1,400 and more.
func TestRandomnessIsUnbiased(t *testing.T) {
	const n = 200_000
	counts := map[rune]float64{}
	for _, c := range randomBase62(n) {
		counts[c]++
	}
	chi, want := 0.0, float64(n)/62
	for _, c := range base62 {
		chi += math.Pow(counts[c]-want, 2) / want
	}
	if chi > 150 {
		t.Errorf("chi-squared is %.0f", chi)
	}
}

func TestIDs(t *testing.T) {
	for _, id := range []string{"a", newID(), strings.Repeat("x", 128), "acme-1.eu", "!", "~", "...", "a%2Fb", "a?b"} {
		if !validID(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", " ", "a b", "a/b", ".", "..", "é", "a\x00", "a\n", "\x7f", strings.Repeat("x", 129)} {
		if validID(id) {
			t.Errorf("%q is taken", id)
		}
	}
}

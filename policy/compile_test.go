package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// TestCompileMistakes names in a policy what the database does not have: each must be
// refused with its place, since what is misspelled would stay open.
func TestCompileMistakes(t *testing.T) {
	for tables, want := range map[string]string{
		"nowhere: {scoped: true}":                                       "no table public.nowhere",
		"other.messages: {scoped: true}":                                "no table other.messages",
		"countries: {scoped: true}":                                     "no column server_id",
		"messages: {scoped: true, column: tenant}":                      "no column tenant",
		"end_users: {scoped: true, columns: {password: {read: false}}}": "no column password",
	} {
		src := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nmode: enforce\nstatement: {kinds: [select]}\ntables:\n  " + tables + "\n"
		file, err := policy.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		_, err = policy.Compile(file, readSchema(t), policy.Sets{})
		var at *policy.FileError
		if !errors.As(err, &at) || at.Line != 7 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q at line 7", tables, err, want)
		}
	}
}

// TestUnknownSet names a set of functions that does not exist.
func TestUnknownSet(t *testing.T) {
	src, _ := policies.Named("default")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Compile(file, readSchema(t), policy.Sets{}); err == nil {
		t.Error("a policy with an unknown function set was compiled")
	}
}

// TestPositions leads characters of the final text back to the caller's.
func TestPositions(t *testing.T) {
	const text = "SELECT 'é', content FROM messages m WHERE m.id = ? AND m.server_id = ? AND lower(role) = ?"
	d := compile(t, "default", readSchema(t)).Decide(text, policy.Interface)
	bound, reason := d.Approved.Bind("srv-a", []policy.Arg{{}, {}})
	if reason != nil {
		t.Fatal(reason)
	}
	final := []rune(bound.SQL())
	for _, word := range []string{"content", "m.id", "role"} {
		at := strings.Index(string(final), word)
		chars := len([]rune(string(final)[:at])) + 1
		want := len([]rune(text[:strings.Index(text, word)])) + 1
		if got := bound.CallerPosition(chars); got != want {
			t.Errorf("%s: character %d, want %d", word, got, want)
		}
	}
	added := len([]rune(bound.SQL()[:strings.Index(bound.SQL(), "JOIN (SELECT)")])) + 1
	for _, pos := range []int{added, 0, -1, len(final) + 5} {
		if got := bound.CallerPosition(pos); got != 0 {
			t.Errorf("character %d is not the caller's, but became %d", pos, got)
		}
	}
}

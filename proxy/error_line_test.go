package proxy

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure a line says what is known of an error, and never its texts, which may quote values.
func TestLineAttrs(t *testing.T) {
	const canary = "c4n4ry"
	said := &Error{Code: policy.TableNotAllowed, Message: canary, Hint: canary, Constraint: canary, Table: canary, Cause: errors.New(canary)}
	for want, got := range map[string]any{
		"[policy=shop rule=table sqlstate=42501 fingerprint=" + policy.Fingerprint("SELECT 1") + " position=3]": said.LineAttrs("shop", "SELECT '"+canary+"'", 3),
		"[rule=table sqlstate=42501]":             said.LineAttrs("", "", 0),
		"[sqlstate=22012]":                        (&Error{Code: policy.QueryFailed, SQLState: "22012"}).LineAttrs("", "SELECT '"+canary, 0),
		"[sqlstate=XX000]":                        (&Error{Code: "no code"}).LineAttrs("", "", 0),
		"[rule=limit sqlstate=53400]":             Refuse(RateLimited, canary).LineAttrs("", "", 0),
		"[policy=shop rule=scope sqlstate=42501]": Refuse(policy.MissingServerScope, canary).LineAttrs("shop", "", 0),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}

// Ensure a key's name in a log is a small part of its digest, however it is printed.
func TestKeyIDInLogs(t *testing.T) {
	id := KeyID{0xab, 5: 0x01, 6: 0xff}
	if got := fmt.Sprintf("%v %s", id, id); got != "ab0000000001 ab0000000001" {
		t.Error(got)
	}
}

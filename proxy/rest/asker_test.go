package rest_test

import (
	"slices"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// What a connection sends is looked up as its network's until its credentials were valid, then as whose
// it was first.
func TestWhoseLookUpsAre(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	for _, key := range []string{"wrong", apiKey, "wrong", apiKey} {
		c.send("GET " + emailPath + "?email=a@b HTTP/1.1\r\nHost: x\r\nX-Server-ID: " + serverID + "\r\nX-API-Key: " + key + "\r\n\r\n")
		c.answer("GET", emailPath)
	}
	c.send("GET " + serversPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody's\r\n\r\n")
	c.answer("GET", serversPath)
	stranger, known := proxy.Account{Project: "network 127.0.0.1/32"}, proxy.Account{Project: projectID, Server: serverID}
	if want := []proxy.Account{stranger, stranger, known, known, known}; !slices.Equal(w.store.askers, want) {
		t.Errorf("askers %v, want %v", w.store.askers, want)
	}
}

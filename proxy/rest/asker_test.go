package rest_test

import (
	"slices"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// What a connection sends is looked up as its network's until its credentials were valid, then as whose
// it was first. What a token names is looked up as the token's.
func TestWhoseLookUpsAre(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	for _, key := range []string{"wrong", apiKey, "wrong", apiKey} {
		c.send("GET " + emailPath + "?email=a@b HTTP/1.1\r\nHost: x\r\nX-Server-ID: " + serverID + "\r\nX-API-Key: " + key + "\r\n\r\n")
		c.answer("GET", emailPath)
	}
	c.send("GET " + serversPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody's\r\n\r\n")
	c.answer("GET", serversPath)
	for _, path := range []string{serversPath, serverPath} {
		c.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
		c.answer("GET", path)
	}
	bearer := proxy.Account{Project: projectID, Server: "token t"}
	stranger, known := proxy.Account{Project: "network 127.0.0.1/32"}, proxy.Account{Project: projectID, Server: serverID}
	if want := []proxy.Account{stranger, stranger, known, known, known, known, bearer, known, bearer}; !slices.Equal(w.store.askers, want) {
		t.Errorf("askers %v, want %v", w.store.askers, want)
	}
}

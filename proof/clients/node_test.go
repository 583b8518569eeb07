package clients_test

import (
	"os"
	"testing"
)

// TestNode runs the Node clients. Each says what it checks in lines of JSON.
func TestNode(t *testing.T) {
	need(t, "node")
	if _, err := os.Stat("node/node_modules/.package-lock.json"); err != nil {
		missing(t, "node/node_modules")
	}
	for _, client := range []string{"pg", "postgres", "kysely"} {
		t.Run(client, func(t *testing.T) {
			each(t, func(t *testing.T, url string) {
				out, err := command(t, "", "node", url, "node", "--no-deprecation", client+".mjs")
				checked(t, out, err)
			})
		})
	}
}

package clients_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestNode runs the Node clients. Each says what it checks in lines of JSON.
func TestNode(t *testing.T) {
	need(t, "node")
	if _, err := os.Stat("node/node_modules/.package-lock.json"); err != nil {
		missing(t, "clients/node/node_modules")
	}
	for _, client := range []string{"pg", "postgres", "kysely"} {
		t.Run(client, func(t *testing.T) {
			each(t, func(t *testing.T, url string) {
				out, err := command(t, "", "node", url, "node", "--no-deprecation", client+".mjs")
				done := 0
				for line := range strings.Lines(out) {
					var check struct{ Name, Error string }
					if json.Unmarshal([]byte(line), &check) != nil {
						t.Error(line)
						continue
					}
					done++
					t.Run(check.Name, func(t *testing.T) {
						if check.Error != "" {
							t.Error(check.Error)
						}
					})
				}
				if err != nil || done < 5 {
					t.Errorf("%d checks, %v", done, err)
				}
			})
		})
	}
}

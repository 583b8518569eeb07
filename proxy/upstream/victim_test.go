package upstream

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure the statement that goes is one of the project that has the most, then of the server that has, and of those the one
// that was used least recently.
func TestVictimIsOfTheLargestProject(t *testing.T) {
	for want, of := range map[string][]string{ // in the order in which they were used
		"1: the larger project, of which each server has less": {"q/c", "p/a", "p/b", "p/a", "q/c", "p/b", "q/c"},
		"2: its larger server":                                 {"q/c", "p/b", "p/a", "p/a", "q/c"},
		"0: the oldest":                                        {"p/a", "p/a", "p/a"},
	} {
		s := newStatements(len(of), 1<<20)
		for i, a := range of {
			project, server, _ := strings.Cut(a, "/")
			s.put(&plan{sql: strconv.Itoa(i), owner: proxy.Account{Project: project, Server: server}, bytes: 100})
		}
		if got := s.victim().sql; got != want[:1] {
			t.Errorf("%s: it is %s", want, got)
		}
	}
}

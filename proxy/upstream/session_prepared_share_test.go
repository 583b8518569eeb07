package upstream

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure two servers of one project that leave as many transactions open as they can leave
// connections to the servers of other projects, and to one of their own that holds none.
func TestOneProjectDoesNotTakeAllConnections(t *testing.T) {
	l := link(t, Config{MaxConns: 20, AcquireTimeout: time.Second}) // within which it also connects
	one := l.approve("SELECT 1")
	open := func(project, server string) error {
		l.t.Helper()
		l.link = l.pool.Link(proxy.Account{Project: project, Server: server})
		t.Cleanup(l.link.Rollback)
		bound, reason := one.Bind(server, nil)
		if reason != nil {
			t.Fatalf("%+v", reason)
		}
		_, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Simple, Bound: bound}}})
		return err
	}
	held := map[string]int{}
	for _, server := range []string{"one", "two", "quiet"} {
		for range 20 {
			if err := open("greedy", server); err != nil {
				refusal(t, err, proxy.Overloaded, server)
				break
			}
			held[server]++
		}
	}
	if got := fmt.Sprint(held); got != "map[one:12 quiet:1 two:2]" {
		t.Errorf("they hold %s", got)
	}
	if l.rec.class(classServerShare) != 1 || l.rec.class(classProjectShare) != 2 {
		t.Errorf("the recorder was told of %v", l.rec.errors)
	}
	for i := range 5 {
		if err := open(fmt.Sprint("quiet", i), "one"); err != nil {
			t.Errorf("another project: %v", err)
		}
	}
}

// Ensure the texts of one server, and those of all servers of one project, do not have a connection
// forget what others had prepared, and that it forgets the least recently used of theirs.
func TestUniqueTextsPushNothingOut(t *testing.T) {
	s := newStatements(20, 1<<20)
	put := func(project, server string, n int) string {
		p := &plan{sql: fmt.Sprint(project, " ", server, " ", n), name: fmt.Sprint(n), owner: proxy.Account{Project: project, Server: server}, bytes: 10}
		s.put(p)
		return p.sql
	}
	var quiet []string
	for n := range 5 {
		quiet = append(quiet, put("quiet", "a", n))
	}
	last := ""
	for n := range 1000 {
		last = put("loud", fmt.Sprint(n%100), n)
		put("loud", "1", n+1000)
	}
	for _, sql := range append(quiet, last) {
		if s.get(sql) == nil {
			t.Errorf("%s is gone", sql)
		}
	}
	if s.order.Len() != 20 {
		t.Errorf("%d are kept", s.order.Len())
	}
	for s.order.Len() > 0 {
		s.drop(s.victim().sql)
	}
	if len(s.projects)+len(s.servers)+s.bytes > 0 {
		t.Errorf("nothing is kept, but counted are %v, %v and %d bytes", s.projects, s.servers, s.bytes)
	}
}

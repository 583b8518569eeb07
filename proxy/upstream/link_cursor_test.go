package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a cursor's parameters are of the types by which its query was judged, also where
// Postgres would find others.
func TestLinkCursorOfTypes(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	a := l.approve("DECLARE c CURSOR FOR SELECT body, $2 FROM notes WHERE id = $1", 20, 1082)
	b, reason := a.Bind("mine", []policy.Arg{
		{Kind: policy.Binary, Text: "\x00\x00\x00\x00\x00\x00\x00\x02"}, {Kind: policy.Binary, Text: "\x00\x00\x00\x01"},
	})
	if reason != nil {
		t.Fatalf("%+v", reason)
	}
	steps := []proxy.Step{{Verb: proxy.Simple, Bound: b}, l.simple("FETCH c")}
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: steps, Commit: true}, proxy.Open,
		"done DECLARE CURSOR", "columns body:25:0 ?column?:1082:0", "row b|2000-01-02", "done FETCH 1")
}

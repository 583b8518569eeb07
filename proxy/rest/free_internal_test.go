package rest

import (
	"net"
	"testing"
	"time"
)

// Ensure the pause of a connection ends that has to go for another's sake, whichever comes first.
func TestEvictedConnectionsDoNotSleep(t *testing.T) {
	for name, evict := range map[string]func(c *conn, asleep func() bool){
		"before": func(c *conn, _ func() bool) { c.Evict() },
		"after": func(c *conn, asleep func() bool) {
			go func() {
				for !asleep() {
					time.Sleep(time.Millisecond)
				}
				c.Evict()
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			peer, transport := net.Pipe()
			defer peer.Close()
			c := &conn{Conn: transport}
			c.phase.Store(uint32(answering))
			evict(c, func() bool { return c.endWait.Load() != nil })
			start := time.Now()
			c.sleep(t.Context(), 3*time.Second)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("it slept %v", took)
			}
		})
	}
}

package rest

import (
	"bufio"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/proxy"
)

// BenchmarkHandle is the handler without a socket: what finds the endpoint, and the least that an answer takes.
func BenchmarkHandle(b *testing.B) {
	const server = "/api/developer/projects/0198f3a2-7c1e-7d7e-9a55-0d7e6f0b1a2c/servers/0198f3a2-7c1e-7d7e-9a55-0d7e6f0b1a2d"
	for name, target := range map[string]string{
		"ids": server + "/database/query", "none": "/docs", "escaped": strings.ReplaceAll(server, "0198", "%30198"), "unknown": server + "/database",
	} {
		b.Run(name, func(b *testing.B) {
			s := &Server{cfg: Config{Throttle: proxy.NewThrottle(1000, 100), Recorder: silent{}, Logger: slog.New(slog.DiscardHandler), MaxBodyBytes: 1 << 20}}
			s.router = s.newRouter()
			c := &conn{Conn: address{from: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}}
			c.known.Store(true)
			var ctx fasthttp.RequestCtx
			ctx.Init2(&stream{socket: c}, nil, false)
			if err := ctx.Request.Read(bufio.NewReader(strings.NewReader("OPTIONS " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"))); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.handle(&ctx)
				c.move(answering, waiting)
				ctx.ResetUserValues()
				ctx.Response.Reset()
			}
		})
	}
}

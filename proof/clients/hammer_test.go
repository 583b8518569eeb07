package clients_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// hammer are two clients of two servers that never rest. Each writes its mark into rows of
// the same keys as the other's, and nothing but its mark may come back.
type hammer struct {
	urls   []string
	quiet  sync.RWMutex // whoever has it to write lets them rest
	done   chan struct{}
	all    sync.WaitGroup
	asked  atomic.Int64 // answers that were right
	failed atomic.Int64 // statements that were not answered
	mu     sync.Mutex
	wrong  []string
}

func newHammer(urls ...string) *hammer { return &hammer{urls: urls, done: make(chan struct{})} }

func (h *hammer) start() {
	for n, url := range h.urls {
		h.all.Go(func() { h.client(fmt.Sprintf("mark%d", n), url) })
	}
}

// stop ends them, and tells what they saw.
func (h *hammer) stop(t *testing.T) {
	t.Helper()
	close(h.done)
	h.all.Wait()
	t.Logf("%d answers were their own, %d statements failed", h.asked.Load(), h.failed.Load())
	if h.asked.Load() < 1000 || len(h.wrong) > 0 {
		t.Errorf("%d answers, wrong: %s", h.asked.Load(), strings.Join(h.wrong, "; "))
	}
}

func (h *hammer) client(mark, url string) {
	for {
		select {
		case <-h.done:
			return
		default:
		}
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			h.failed.Add(1)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		h.ask(conn, mark)
		_ = conn.Close(context.Background())
	}
}

// ask asks until the connection ends.
func (h *hammer) ask(conn *pgx.Conn, mark string) {
	for n := 0; !conn.IsClosed(); n++ {
		select {
		case <-h.done:
			return
		default:
		}
		h.quiet.RLock()
		err := h.once(conn, mark, n)
		h.quiet.RUnlock()
		if err == nil {
			h.asked.Add(1)
			continue
		}
		h.failed.Add(1)
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && (refused.Code == "22012" || refused.Code == "57014") {
			h.say(err.Error()) // others divide by zero, and are cancelled
		}
	}
}

func (h *hammer) say(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.wrong) < 10 {
		h.wrong = append(h.wrong, what)
	}
}

// once writes and reads in one of several ways.
func (h *hammer) once(conn *pgx.Conn, mark string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	key, unique := int64(n%50), fmt.Sprintf("%s-%d", mark, n)
	const put = "INSERT INTO samples (id, t) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET t = excluded.t"
	if _, err := conn.Exec(ctx, put, key, mark); err != nil {
		return err
	}
	mode := []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}[n%3]
	rows, err := conn.Query(ctx, "SELECT t, $1::text FROM samples", mode, unique)
	if err != nil {
		return err
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		var t, said string
		if err := rows.Scan(&t, &said); err != nil {
			return err
		}
		if count++; t != mark || said != unique {
			h.say(fmt.Sprintf("%s was told %s, %s", unique, t, said))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if count == 0 || count > 50 {
		h.say(fmt.Sprintf("%s got %d rows", unique, count))
	}
	return nil
}

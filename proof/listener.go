package proof

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	front "github.com/tenantgate/tenantgate/proxy/wire"
	"github.com/tenantgate/tenantgate/wall"
)

// password is that of the role of statements, and of every server at the listener.
const password = "of-the-proof"

// listener is the front end for Postgres' protocol over a shared database, with all that
// stands behind it: the gate, the policies, the pool and the walls.
type listener struct {
	directory *directory
	client    *client // nil where statements come another way
	pool      *upstream.Pool
	addr      string
	stop      func() error
}

// behind is what a listener stands before.
type behind struct {
	server     string
	url        string // the superuser's, of the shared database
	walls      Walls
	noPrepared bool
	planner    policy.Planner
	tamper     func(*upstream.Pool) front.Link // gives what a session runs its statements through; nil: the pool's own, unbroken
}

// listen starts a listener for one server. Its stop must be called.
func (w *World) listen(ctx context.Context, b behind) (*listener, error) {
	files, err := listenerFiles(b.planner)
	if err != nil {
		return nil, err
	}
	l := &listener{directory: &directory{server: b.server}}
	if l.pool, err = w.pool(ctx, b, files[0]); err != nil {
		return nil, err
	}
	server, err := l.front(ctx, b, files)
	if err == nil {
		err = l.serve(ctx, server)
	}
	if err != nil {
		l.pool.Close()
		return nil, err
	}
	return l, nil
}

// pool opens the pool of a listener, as the role that the walls ask for.
func (w *World) pool(ctx context.Context, b behind, file *policy.File) (*upstream.Pool, error) {
	at, err := url.Parse(b.url)
	if err != nil {
		return nil, errors.New("the database's URL is not one")
	}
	cfg := upstream.Config{MaxConns: 2, AcquireTimeout: 10 * time.Second, NoPrepared: b.noPrepared, CustomPlans: b.planner == policy.Custom}
	at.User = url.UserPassword(w.freeRole(), password)
	if b.walls.walled() {
		at.User = url.UserPassword(w.role(), password)
		cfg.Wall = upstream.Wall{Key: func() (wall.Key, bool) { return w.key, true }, Scopes: map[policy.TableName]string{}}
		for _, t := range file.Tables {
			if t.Scoped {
				cfg.Wall.Scopes[t.TableName] = t.Column
			}
		}
	}
	cfg.URL = at.String()
	pool, err := upstream.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening a pool: %w", err)
	}
	return pool, nil
}

// front makes the server over the listener's pool.
func (l *listener) front(ctx context.Context, b behind, files []*policy.File) (*front.Server, error) {
	sets := policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(), Extensions: policies.Extensions()}
	loaded, err := proxy.LoadPolicies(ctx, proxy.PoliciesConfig{
		Files: files, Default: files[0].Name, Sets: sets, Catalog: walled{l.pool, b.walls.walled()}, Recorder: unrecorded{}, Log: slog.New(slog.DiscardHandler), PlanBytes: 1 << 20, RLSRequired: b.walls.walled(),
	})
	if err != nil {
		return nil, fmt.Errorf("loading the policies: %w", err)
	}
	gate := proxy.NewGate(proxy.GateConfig{Directory: l.directory, Policies: loaded, Recorder: unrecorded{}, Override: policy.Limits{RequestsPerSecond: -1, MaxConcurrent: -1}})
	return front.New(front.Config{Gate: gate, Logger: slog.New(slog.DiscardHandler), TLSMode: front.TLSDisable, Open: func(a proxy.Account) front.Link { //nolint:wrapcheck // it says what it is
		if b.tamper != nil {
			return b.tamper(l.pool)
		}
		return l.pool.Link(a)
	}})
}

// serve starts the server.
func (l *listener) serve(ctx context.Context, server *front.Server) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	l.addr = ln.Addr().String()
	serving, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, ln) }()
	l.stop = sync.OnceValue(func() error {
		if l.client != nil {
			_ = l.client.conn.Close()
		}
		end()
		err := <-ended
		l.pool.Close()
		return err
	})
	return nil
}

// listenerFiles are the policies, named by their scope modes.
func listenerFiles(planner policy.Planner) (files []*policy.File, err error) {
	for _, mode := range Listener.modes() {
		file, err := policy.Parse([]byte(policyFile(mode) + "limits: {statementTimeout: 3s, maxRows: none, maxResultBytes: none}\n"))
		if err != nil {
			return nil, fmt.Errorf("parsing the proof's policy: %w", err)
		}
		file.Name, file.Planner = string(mode), planner
		files = append(files, file)
	}
	return files, nil
}

// directory knows one server, and the policy that is assigned to it now.
type directory struct {
	proxy.Directory
	server string
	mode   atomic.Value // of policy.ScopeMode
}

func (d *directory) Verifier(_ context.Context, _ proxy.Account, id string) (proxy.Verifier, error) {
	v := proxy.Verifier{Salt: []byte("sixteen bytes of"), Iterations: 4096}
	if id != d.server {
		return v, nil
	}
	salted, err := pbkdf2.Key(sha256.New, password, v.Salt, v.Iterations, sha256.Size)
	if err != nil {
		return v, err
	}
	mac := func(text string) []byte {
		m := hmac.New(sha256.New, salted)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	v.Keys = []proxy.VerifierKey{{ID: proxy.KeyID{1}, Stored: sha256.Sum256(mac("Client Key")), Server: [32]byte(mac("Server Key"))}}
	return v, nil
}

func (d *directory) Recheck(_ context.Context, id string, _ proxy.KeyID) (proxy.Session, error) {
	mode, _ := d.mode.Load().(policy.ScopeMode)
	return proxy.Session{Server: proxy.Server{ID: id, Active: id == d.server, Policy: string(mode)}}, nil
}

// walled is a catalog whose tables all have the wall of the proof, which is not made in the
// one way that the pool takes for certain, or have none.
type walled struct {
	proxy.Catalog
	stands bool
}

func (w walled) Schema(ctx context.Context, tables []policy.TableName) (policy.Schema, error) {
	schema, err := w.Catalog.Schema(ctx, tables)
	for i := range schema.Tables {
		schema.Tables[i].Walled = w.stands
	}
	return schema, err //nolint:wrapcheck // it says what it is
}

// unrecorded records nothing.
type unrecorded struct{}

func (unrecorded) PlanCache(string)      {}
func (unrecorded) Stage(string, float64) {}
func (unrecorded) SchemaRefresh(string)  {}
func (unrecorded) ScopedTables(int, int) {}
func (unrecorded) Short(string, string)  {}

func (unrecorded) FoundTables(_, _ map[string][]string) {}

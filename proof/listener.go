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
	client    *client
	pool      *upstream.Pool
	stop      func() error
}

// listen starts a listener for one server and logs in to it. tamper gives what a session
// runs its statements through; nil: the pool's own, unbroken.
func (w *World) listen(ctx context.Context, p *place, tamper func(*upstream.Pool) front.Link) (_ *listener, err error) {
	files, err := listenerFiles()
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(p.url)
	if err != nil {
		return nil, errors.New("the database's URL is not one")
	}
	at.User = url.UserPassword(w.role(), password)
	l := &listener{directory: &directory{server: p.server}}
	scopes := map[policy.TableName]string{}
	for _, t := range files[0].Tables {
		if t.Scoped {
			scopes[t.TableName] = t.Column
		}
	}
	l.pool, err = upstream.Open(ctx, upstream.Config{
		URL: at.String(), MaxConns: 2, AcquireTimeout: 10 * time.Second,
		Wall: upstream.Wall{Key: func() (wall.Key, bool) { return w.key, true }, Scopes: scopes},
	})
	if err != nil {
		return nil, fmt.Errorf("opening a pool: %w", err)
	}
	sets := policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()}
	loaded, err := proxy.LoadPolicies(ctx, proxy.PoliciesConfig{
		Files: files, Default: files[0].Name, Sets: sets, Catalog: walled{l.pool}, Recorder: unrecorded{}, Log: slog.New(slog.DiscardHandler), PlanBytes: 1 << 20, RLSRequired: true,
	})
	if err != nil {
		l.pool.Close()
		return nil, fmt.Errorf("loading the policies: %w", err)
	}
	gate := proxy.NewGate(proxy.GateConfig{Directory: l.directory, Policies: loaded, Recorder: unrecorded{}, Override: policy.Limits{RequestsPerSecond: -1, MaxConcurrent: -1}})
	server, err := front.New(front.Config{Gate: gate, Logger: slog.New(slog.DiscardHandler), TLSMode: front.TLSDisable, Open: func(server string) front.Link {
		if tamper != nil {
			return tamper(l.pool)
		}
		return l.pool.Link(server)
	}})
	if err == nil {
		err = l.serve(ctx, server, p.server)
	}
	if err != nil {
		l.pool.Close()
		return nil, err
	}
	return l, nil
}

// serve starts the server and connects to it.
func (l *listener) serve(ctx context.Context, server *front.Server, id string) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
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
	if l.client, err = logIn(ctx, ln.Addr().String(), id); err != nil {
		return errors.Join(err, l.stop())
	}
	return nil
}

// listenerFiles are the policies, named by their scope modes.
func listenerFiles() (files []*policy.File, err error) {
	for _, mode := range Listener.modes() {
		file, err := policy.Parse([]byte(policyFile(mode) + "limits: {statementTimeout: 1s, maxRows: none, maxResultBytes: none}\n"))
		if err != nil {
			return nil, fmt.Errorf("parsing the proof's policy: %w", err)
		}
		file.Name = string(mode)
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

func (d *directory) Verifier(_ context.Context, id string) (proxy.Verifier, error) {
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

func (d *directory) Holder(_ context.Context, id string, _ proxy.KeyID) (proxy.Holding, error) {
	mode, _ := d.mode.Load().(policy.ScopeMode)
	return proxy.Holding{Server: proxy.Server{ID: id, Active: id == d.server, Policy: string(mode)}}, nil
}

// walled is a catalog whose tables all have the wall of the proof, which is not made in the
// one way that the pool takes for certain.
type walled struct{ proxy.Catalog }

func (w walled) Schema(ctx context.Context, tables []policy.TableName) (policy.Schema, error) {
	schema, err := w.Catalog.Schema(ctx, tables)
	for i := range schema.Tables {
		schema.Tables[i].Walled = true
	}
	return schema, err //nolint:wrapcheck // it says what it is
}

// unrecorded records nothing.
type unrecorded struct{}

func (unrecorded) PlanCache(string)      {}
func (unrecorded) Stage(string, float64) {}
func (unrecorded) SchemaRefresh(string)  {}
func (unrecorded) ScopedTables(int, int) {}

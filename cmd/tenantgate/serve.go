package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/doctor"
	"github.com/tenantgate/tenantgate/metrics"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	"github.com/tenantgate/tenantgate/proxy/wire"
	"golang.org/x/sync/errgroup"
)

// startTimeout bounds the time in which everything that the service needs must answer.
const startTimeout = 30 * time.Second

// serveCommand is production.
type serveCommand struct {
	settings
	databases
}

// databases are the roles that the service works as. See `tenantgate migrate`.
type databases struct {
	DatabaseURL        string `name:"database-url" required:"" secret:"" placeholder:"URL" help:"Role that statements run as: no owner, restricted to the policy's tables. (secret)"`
	ControlDatabaseURL string `name:"control-database-url" required:"" secret:"" placeholder:"URL" help:"Role that owns the control store's tables. (secret)"`
	LookupDatabaseURL  string `name:"lookup-database-url" secret:"" placeholder:"URL" help:"Role that looks up end users by e-mail; no other role needs the password hashes. By default the control store's role does that, in the control store's database. serve does not start without a table of end users: see endUsers in deploy/README.md. (secret)"`
}

// Run serves until the process is told to stop.
func (s *serveCommand) Run(ctx context.Context, c *console) error {
	log, finish := newLog(c.Err, s.LogLevel, s.LogFormat)
	defer finish()
	sv, err := open(ctx, &s.settings, log)
	if err != nil {
		return err
	}
	defer sv.close()
	return sv.serve(ctx, s.databases, func() error { return nil })
}

// serve is the only wiring: connect, start, wait, stop in order. ready is called once
// when requests are answered.
func (sv *service) serve(ctx context.Context, db databases, ready func() error) error {
	defer sv.disconnect()
	if err := sv.connect(ctx, db); err != nil {
		return sv.unlessStopped(ctx, fmt.Errorf("starting: %w", err))
	}
	sv.log.Info("serving", "pg", sv.pgAddr(), "http", sv.httpListener.Addr().String(), "ops", sv.opsListener.Addr().String(), "version", version, "commit", commit)
	err := sv.run(ctx, ready)
	sv.log.Info("stopped")
	return err
}

// service is everything that runs, in the order in which it was built.
type service struct {
	settings     *settings
	log          *slog.Logger
	metrics      *metrics.Metrics
	sections     *fileConfig
	files        []*policy.File
	certificate  *tls.Config
	httpListener net.Listener
	opsListener  net.Listener
	pgListener   net.Listener // nil: none
	pgTLS        *tls.Config
	handshakes   *proxy.Handshakes // of both front ends
	store        *control.Store
	lookup       *control.Lookup
	work         *proxy.Work
	parsing      *proxy.Turns
	pool         *upstream.Pool
	policies     *proxy.Policies
	gate         *proxy.Gate
	rest         *rest.Server
	wire         *wire.Server // nil: none
	ops          *metrics.Ops
}

// open reads every file and opens the listeners: what is wrong with those is told before a
// database is touched, or made.
func open(ctx context.Context, s *settings, log *slog.Logger) (*service, error) {
	sv := &service{settings: s, log: log, metrics: newMetrics(), handshakes: proxy.NewHandshakes(0, 0)}
	err := checkStack()
	if err == nil {
		err = s.fitDescriptors(log)
	}
	if err == nil {
		err = sv.read()
	}
	if err == nil {
		err = sv.listen(ctx)
	}
	if err != nil {
		sv.close()
		return nil, fmt.Errorf("starting: %w", err)
	}
	return sv, nil
}

func (sv *service) read() (err error) {
	if sv.sections, err = sv.settings.Config.read(); err != nil {
		return err
	}
	if sv.files, err = policyFiles(sv.settings.Policy); err != nil {
		return err
	}
	if sv.certificate, err = sv.settings.tlsConfig(); err != nil {
		return err
	}
	sv.pgTLS, err = sv.settings.pgTLSConfig(sv.certificate)
	return err
}

// unlessStopped drops the error of a start that was broken off because the process was
// told to stop.
func (sv *service) unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	sv.log.Info("stopped before the service was ready")
	return nil
}

// connect makes the parts that work with the databases, and fails early where one can't.
func (sv *service) connect(ctx context.Context, db databases) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, step := range []func(context.Context, databases) error{sv.openStore, sv.openPool, sv.loadPolicies, sv.openRest, sv.openWire, sv.warnOfRole} {
		if err := step(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func (sv *service) listen(ctx context.Context) (err error) {
	var lc net.ListenConfig
	if sv.httpListener, err = lc.Listen(ctx, network(sv.settings.HTTPAddr), sv.settings.HTTPAddr); err != nil {
		return fmt.Errorf("opening --http-addr: %w", err)
	}
	if sv.opsListener, err = lc.Listen(ctx, network(sv.settings.OpsAddr), sv.settings.OpsAddr); err != nil {
		return fmt.Errorf("opening --ops-addr: %w", err)
	}
	if addr := sv.settings.pgAddr(); addr != "" {
		if sv.pgListener, err = lc.Listen(ctx, network(addr), addr); err != nil {
			return fmt.Errorf("opening --pg-addr: %w", err)
		}
	}
	return nil
}

// network keeps an address of IPv4 from being listened to on IPv6 too: to the library 0.0.0.0 is
// every address of both.
func network(addr string) string {
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

func (sv *service) openStore(ctx context.Context, db databases) (err error) {
	file := sv.sections
	sv.store, err = control.Open(ctx, control.Config{ControlURL: db.ControlDatabaseURL, JWT: file.JWT.config(), MaxServers: sv.settings.MaxServers, Log: sv.log, Looked: sv.metrics.CredentialCache,
		CheckServerID: func(policy, id string) error { return sv.policies.CheckServerID(policy, id) }, // asked by requests only, so after loadPolicies
		Short:         sv.metrics.Short, ProjectShare: sv.settings.ProjectShare})
	if err != nil {
		return fmt.Errorf("opening the control store (--control-database-url): %w", err)
	}
	lookup := db.LookupDatabaseURL
	if lookup == "" {
		sv.log.Warn("the look-up by e-mail reads as the control store's role, which can therefore read the password hashes: set a role of its own with --lookup-database-url")
		lookup = db.ControlDatabaseURL
	}
	users := file.EndUsers.config(lookup)
	users.Short, users.ProjectShare = sv.metrics.Short, sv.settings.ProjectShare
	sv.lookup, err = control.OpenLookup(ctx, users)
	if err != nil {
		return fmt.Errorf("opening the look-up by e-mail (--lookup-database-url, and endUsers in --config): %w", err)
	}
	return nil
}

func (sv *service) openPool(ctx context.Context, db databases) (err error) {
	s := sv.settings
	judge, err := doctor.NewWatch(sv.files, sets().Functions)
	if err != nil {
		return fmt.Errorf("preparing to look at the tables: %w", err)
	}
	sv.work, sv.parsing = proxy.NewWork(int(s.PoolMax)), proxy.ParsingPlaces(s.ProjectShare)
	sv.pool, err = upstream.Open(ctx, upstream.Config{
		URL: db.DatabaseURL, MinConns: s.PoolMin, MaxConns: s.PoolMax, ProjectShare: s.ProjectShare, AcquireTimeout: s.PoolWait, LockTimeout: s.LockTimeout,
		PreparedStatements: s.Prepared, NoPrepared: s.PreparedOff, SearchPath: s.searchPath(), Wall: sv.wall(), Judge: judge, Work: sv.work, Parsing: sv.parsing, Recorder: sv.metrics, Log: sv.log,
		CustomPlans: !slices.ContainsFunc(sv.files, func(f *policy.File) bool { return f.Planner != policy.Custom }),
	})
	if err == nil {
		err = sv.pool.Ready(ctx)
	}
	if told := (*proxy.Error)(nil); errors.As(err, &told) && told.Cause != nil {
		err = told.Cause // what else it says is for callers
	}
	if err != nil {
		return fmt.Errorf("opening the database (--database-url): %w", err)
	}
	sv.metrics.WatchPool(func() (idle, acquired, limit, waiting, abandoned, heldBack int) {
		st := sv.pool.Stat()
		return st.Idle, st.Acquired, st.Max, st.Waiting, st.Abandoned, st.HeldBack
	})
	return nil
}

func (sv *service) loadPolicies(ctx context.Context, _ databases) (err error) {
	files := sv.files
	sv.policies, err = proxy.LoadPolicies(ctx, proxy.PoliciesConfig{
		Files: files, Default: files[0].Name, Frontends: sv.frontends(), Sets: sets(), Catalog: sv.pool, Recorder: sv.metrics, Log: sv.log, PlanBytes: planBytes,
		RLSRequired: sv.settings.RLS == rlsRequired,
	})
	if err != nil {
		return fmt.Errorf("loading the policies: %w", err)
	}
	for _, f := range files {
		sv.metrics.PolicyInfo(f.Name, f.SHA256)
	}
	return nil
}

func (sv *service) openRest(_ context.Context, _ databases) (err error) {
	s := sv.settings
	sv.gate = proxy.NewGate(proxy.GateConfig{
		Directory: sv.store, Policies: sv.policies, Recorder: sv.metrics,
		Override:      policy.Limits{RequestsPerSecond: limit(s.RequestsPerSecond), MaxConcurrent: limit(s.MaxConcurrent)},
		ProjectBudget: limit(&s.ProjectBudget), Work: sv.work, Parsing: sv.parsing,
	})
	sv.rest, err = rest.New(rest.Config{
		Gate: sv.gate, Servers: sv.store, EndUsers: sv.lookup, Query: query(sv.pool), Recorder: sv.metrics, Logger: sv.log,
		BasePath: s.BasePath, TLS: sv.certificate, Handshakes: sv.handshakes, CORSOrigins: s.CORSOrigins,
		MaxBodyBytes: s.MaxBodyBytes, MaxConns: s.MaxConns, MaxConnsPerIP: s.MaxConnsPerIP, MaxUnauthenticatedPerIP: orUnlimited(s.MaxUnauthPerIP), DrainTimeout: s.DrainTimeout, ProjectShare: s.ProjectShare,
	})
	if err != nil {
		return fmt.Errorf("making the REST interface: %w", err)
	}
	sv.metrics.WatchHTTP(sv.rest.Connections)
	sv.ops = metrics.NewOps(metrics.OpsConfig{Listener: sv.opsListener, Metrics: sv.metrics.Handler(), Ready: sv.ready, Beside: sv.policies.Found, Log: sv.log})
	return nil
}

// query adapts the pool to the front end.
func query(pool *upstream.Pool) rest.QueryFunc {
	return func(ctx context.Context, project string, b policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
		result, err := pool.Query(ctx, project, b, upstream.Encoding{Int8AsString: as.Int8AsString, Room: as.Room}, dst)
		return result.Body, result.RowsAffected, err
	}
}

// ready tells why requests can't be served, if so.
func (sv *service) ready(ctx context.Context) error {
	return errors.Join(sv.pool.Ready(ctx), sv.store.Ready(ctx), sv.policies.Ready())
}

// run serves until ctx ends, then stops in order: readiness first, then the front end
// with its running requests, then what those need.
func (sv *service) run(ctx context.Context, ready func() error) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	serving, fail := context.WithCancel(ctx)
	defer fail()
	var group errgroup.Group
	for _, part := range []func(context.Context) error{sv.store.Run, sv.policies.Run, sv.ops.Run} {
		group.Go(func() error {
			defer fail() // no part ends before the front end has
			return part(background)
		})
	}
	err := sv.front(serving, ready)
	stop()
	return errors.Join(err, group.Wait())
}

// front serves requests until ctx ends, and their answers to the end.
func (sv *service) front(ctx context.Context, ready func() error) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var fronts errgroup.Group
	for _, serve := range sv.fronts() {
		fronts.Go(func() error {
			defer stop() // one that fails ends the others
			return serve(serving)
		})
	}
	err := ready()
	if err != nil {
		stop()
	}
	<-serving.Done()
	sv.log.Info("stopping")
	sv.ops.Drain()
	return errors.Join(err, fronts.Wait())
}

// fronts are the front ends, each of which serves until its context ends.
func (sv *service) fronts() []func(context.Context) error {
	all := []func(context.Context) error{func(ctx context.Context) error { return sv.rest.Serve(ctx, sv.httpListener) }}
	if sv.wire != nil {
		all = append(all, func(ctx context.Context) error { return sv.wire.Serve(ctx, sv.pgListener) })
	}
	return all
}

// disconnect lets go of what connect made, last first.
func (sv *service) disconnect() {
	if sv.pool != nil {
		sv.pool.Close()
	}
	if sv.lookup != nil {
		sv.lookup.Close()
	}
	if sv.store != nil {
		sv.store.Close()
	}
}

// close closes what is still open of what open made.
func (sv *service) close() {
	for _, ln := range []net.Listener{sv.httpListener, sv.opsListener, sv.pgListener} {
		if ln != nil {
			_ = ln.Close()
		}
	}
}

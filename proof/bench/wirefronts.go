package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/wall"
)

// wireFront is what pgbench connects to.
type wireFront struct {
	name    string
	url     string
	pid     int    // of its process; 0 for Postgres itself
	prelude string // the settings that row-level security rests on, which the client makes; "" for none
	injects bool   // it restricts statements to the server itself
	forgets bool   // a prepared statement is there until the end of the transaction
	pooler  string // the program; "" for what is no PgBouncer
	stop    func()
}

// can tells whether a front knows a way of sending.
func (f *wireFront) can(mode string) bool { return mode != "prepared" || !f.forgets }

// startFronts starts what is compared, in the order of the tables.
func (c *wireCommand) startFronts(ctx context.Context, d *database) (fronts []*wireFront, err error) {
	nothing := func() {}
	if c.wants("direct") {
		fronts = append(fronts, &wireFront{name: "direct", url: d.hand, stop: nothing},
			&wireFront{name: "direct, walled", url: d.statement, prelude: d.prelude(), stop: nothing})
	}
	for _, program := range c.PGBouncer {
		if !c.wants("pgbouncer") {
			continue
		}
		f, err := c.startPGBouncer(ctx, d, program)
		if err != nil {
			return fronts, fmt.Errorf("%s: %w", program, err)
		}
		walled := *f
		walled.name, walled.prelude, walled.stop = f.name+", walled", d.prelude(), nothing
		walled.url = strings.Replace(f.url, handRole, statementRole, 1)
		fronts = append(fronts, f, &walled)
	}
	if c.wants("tenantgate") {
		port, err := freePort(ctx)
		if err != nil {
			return fronts, err
		}
		f, err := startTenantgate(ctx, c.options, d, "--pg-addr", local(port), "--max-conns", strconv.Itoa(2*c.Idle+1000))
		if err != nil {
			return fronts, err
		}
		fronts = append(fronts, d.listener(f, port))
	}
	return fronts, nil
}

func (c *wireCommand) wants(name string) bool {
	return len(c.Only) == 0 || slices.ContainsFunc(c.Only, func(only string) bool { return strings.HasPrefix(name, only) })
}

// prelude makes the settings of the third wall as a client of PgBouncer would have to.
func (d *database) prelude() string {
	return "SELECT pg_catalog.set_config('" + wall.Setting + "', '" + server + "', true), pg_catalog.set_config('" + wall.Signature + "', '" + d.key.Sign(server) + "', true)"
}

const pgbouncerINI = `[databases]
%[1]s = host=127.0.0.1 port=%[2]s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %[3]d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %[4]s/users.txt
pool_mode = transaction
default_pool_size = %[5]d
min_pool_size = %[5]d
max_client_conn = 20000
log_connections = 0
log_disconnections = 0
stats_period = 3600
ignore_startup_parameters = extra_float_digits
%[6]s
`

var digits = regexp.MustCompile(`[0-9]+`)

// startPGBouncer runs one in front of the database, in transaction mode.
func (c *wireCommand) startPGBouncer(ctx context.Context, d *database, program string) (*wireFront, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(string(version), "\n")
	f := &wireFront{name: name, forgets: true, pooler: program}
	more := ""
	if numbers := digits.FindAllString(name, 2); len(numbers) == 2 {
		minor, err := strconv.Atoi(numbers[1])
		if err != nil {
			return nil, err
		}
		if f.forgets = numbers[0] == "1" && minor < 21; !f.forgets {
			more = "max_prepared_statements = " + strconv.Itoa(c.Prepared)
		}
	}
	hand, err := url.Parse(d.hand)
	if err != nil {
		return nil, errors.New("the database's URL is not one")
	}
	dir := filepath.Join(d.dir, "pgbouncer-"+strconv.Itoa(port))
	config := fmt.Sprintf(pgbouncerINI, databaseName, hand.Port(), port, dir, c.Pool, more)
	users := fmt.Sprintf("%q %q\n%q %q\n", handRole, password, statementRole, password)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(config), 0o644), //nolint:gosec // nobody reads it
		os.WriteFile(filepath.Join(dir, "users.txt"), []byte(users), 0o644), os.Chmod(d.dir, 0o755)); err != nil { //nolint:gosec // another user's, with a password of no worth
		return nil, err
	}
	hand.Host = local(port)
	f.url = hand.String()
	return f, f.start(ctx, program, filepath.Join(dir, "pgbouncer.ini"))
}

// start runs PgBouncer until somebody can connect. It refuses to be root.
func (f *wireFront) start(ctx context.Context, program, config string) error {
	args := []string{"-q", config}
	if os.Geteuid() == 0 {
		args = []string{"-q", "-u", "nobody", config}
	}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the caller's choice
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	f.pid = cmd.Process.Pid
	f.stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for range 100 {
		conn, err := pgx.Connect(ctx, f.url)
		if err == nil {
			return conn.Close(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.stop()
	return fmt.Errorf("it is not ready after five seconds: %s", said.String())
}

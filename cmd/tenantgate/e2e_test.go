package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/proxy/rest/resttest"
)

// The end-to-end tests run the program as `tenantgate dev` does, in this process, on an
// embedded Postgres, and speak HTTP to it. Each exchange is held against the OpenAPI
// document.

// instance is one running program.
type instance struct {
	credentials
	dir      string
	contract *resttest.Contract
	stop     func() int // stops it and gives its exit code
}

// shared is the instance that most tests use, with rate and concurrency limits lifted.
var shared struct {
	once sync.Once
	*instance
	err error
}

// runAsProgram is the variable that makes the test binary the program itself.
const runAsProgram = "RUN_AS_TENANTGATE"

func TestMain(m *testing.M) {
	if os.Getenv(runAsProgram) != "" {
		main()
	}
	code := m.Run()
	if shared.instance != nil {
		if exit := shared.stop(); exit != 0 && code == 0 {
			fmt.Fprintln(os.Stderr, "the service exited with", exit)
			code = 1
		}
	}
	if shared.instance != nil {
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// service gives the shared instance.
func sharedInstance(t testing.TB) *instance {
	t.Helper()
	shared.once.Do(func() {
		shared.instance, shared.err = launch("--requests-per-second=0", "--max-concurrent=0", "--pool-max=10")
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.instance
}

// firstStart starts the program in a folder of the test's own, for what has to be there before
// it is started again with other flags.
func firstStart(t testing.TB) (dir string, first *instance) {
	t.Helper()
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if first, err = launchIn(dir); err != nil {
		t.Fatal(err)
	}
	return dir, first
}

// fresh gives an instance of the test's own.
func fresh(t testing.TB, flags ...string) *instance {
	t.Helper()
	in, err := launch(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if exit := in.stop(); exit != 0 {
			t.Errorf("the service exited with %d", exit)
		}
		_ = os.RemoveAll(in.dir)
	})
	return in
}

// launch starts the program in a new data directory and waits until it is ready.
func launch(flags ...string) (*instance, error) {
	dir, err := openDir()
	if err != nil {
		return nil, err
	}
	return launchIn(dir, flags...)
}

// openDir makes a folder that the user whom Postgres runs as may enter, so that the
// cluster lives and dies in it.
func openDir() (string, error) {
	dir, err := os.MkdirTemp("", "tenantgate-e2e-*")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755) //nolint:gosec // what is secret in it has modes of its own
}

func launchIn(dir string, flags ...string) (*instance, error) {
	file := filepath.Join(dir, "credentials.json")
	_ = os.Remove(file)
	ctx, cancel := context.WithCancel(context.Background())
	stdout, err := os.Create(filepath.Join(dir, "stdout.log"))
	if err != nil {
		cancel()
		return nil, err
	}
	stderr, err := os.Create(filepath.Join(dir, "stderr.log"))
	if err != nil {
		cancel()
		return nil, err
	}
	in := &instance{dir: dir}
	exited := make(chan int, 1)
	args := append([]string{"dev", "--data-dir", filepath.Join(dir, "data"), "--credentials-file", file,
		"--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}, flags...)
	go func() { exited <- run(ctx, args, console{stdout, stderr}) }()
	in.stop = sync.OnceValue(func() int {
		cancel()
		defer func() { _, _ = stdout.Close(), stderr.Close() }()
		return <-exited
	})
	deadline := time.After(60 * time.Second)
	for {
		select {
		case code := <-exited:
			exited <- code
			said, _ := os.ReadFile(stderr.Name())
			return nil, fmt.Errorf("the service exited with %d: %s", in.stop(), said)
		case <-deadline:
			in.stop()
			return nil, fmt.Errorf("the service was not ready in time")
		case <-time.After(20 * time.Millisecond):
		}
		src, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if err := json.Unmarshal(src, &in.credentials); err != nil {
			return nil, err
		}
		return in, in.loadContract()
	}
}

func (in *instance) loadContract() error {
	answer, err := http.Get(in.BaseURL + "/openapi.json")
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	document, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	in.contract, err = resttest.Load(document)
	return err
}

// client gives an HTTP client whose exchanges are held against the OpenAPI document.
func (in *instance) client(t testing.TB) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &resttest.Transport{
		Contract: in.contract, Base: http.DefaultTransport, Report: func(err error) { t.Error(err) },
	}}
}

// reply is an answer with its body read.
type reply struct {
	status int
	header http.Header
	body   string
}

// do makes a request. headers are "Name: value".
func (in *instance) do(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, in.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Add(name, value)
	}
	answer, err := in.client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	received, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(received)}
}

func (in *instance) bearer() string { return "Authorization: Bearer " + in.AccessToken }

func (in *instance) queryPath(server string) string {
	return "/api/developer/projects/" + in.ProjectID + "/servers/" + server + "/database/query"
}

// query runs a statement as the demo server, with the args as Go values.
func (in *instance) query(t testing.TB, text string, args ...any) reply {
	t.Helper()
	return in.queryAs(t, in.ServerID, text, args...)
}

func (in *instance) queryAs(t testing.TB, server, text string, args ...any) reply {
	t.Helper()
	if args == nil {
		args = []any{}
	}
	body, err := json.Marshal(map[string]any{"query": text, "args": args})
	if err != nil {
		t.Fatal(err)
	}
	return in.do(t, http.MethodPost, in.queryPath(server), string(body), in.bearer(), "Content-Type: application/json")
}

// admin runs statements as the embedded database's superuser.
func (in *instance) admin(t testing.TB, statements ...string) {
	t.Helper()
	conn := in.connect(t)
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func (in *instance) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), in.AdminDatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// cli runs a command on the instance's control store and gives what it printed.
func (in *instance) cli(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append(args, "--data-dir", filepath.Join(in.dir, "data")), console{&out, &errs}); code != 0 {
		t.Fatalf("tenantgate %s exited with %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

func sleepBriefly() { time.Sleep(50 * time.Millisecond) }

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded"
	"github.com/tenantgate/tenantgate/proxy"
)

// storeFlags say which control store an administrative command works on.
type storeFlags struct {
	ControlDatabaseURL string `name:"control-database-url" secret:"" placeholder:"URL" help:"The database of the control store: projects, servers, credentials, and the keys that services sign with. (secret)"`
	DataDir            string `name:"data-dir" placeholder:"DIR" help:"Instead: the data directory of a running tenantgate dev (make run: .tenantgate). If one of the two is a flag, it overrides the other one's variable."`
	JSON               bool   `name:"json" env:"-" help:"Print JSON, for scripts."`
}

// AfterApply sees to it that one store is meant.
func (f *storeFlags) AfterApply(parsed *kong.Context) error {
	return oneOf(parsed, "control stores", "control-database-url", &f.ControlDatabaseURL, &f.DataDir)
}

// oneOf sees to it that of a URL's flag and --data-dir one is meant: a flag goes before the
// variable of the other, and two flags or two variables contradict each other.
func oneOf(parsed *kong.Context, what, urlFlag string, url, dir *string) error {
	if *url == "" || *dir == "" {
		return nil
	}
	written := map[string]bool{}
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved {
			written[p.Flag.Name] = true
		}
	}
	switch {
	case written["data-dir"] == written[urlFlag] && written["data-dir"]:
		return fmt.Errorf("--%s and --data-dir name two %s: use one", urlFlag, what)
	case written["data-dir"] == written[urlFlag]:
		variable := "TENANTGATE_" + strings.ToUpper(strings.ReplaceAll(urlFlag, "-", "_"))
		return fmt.Errorf("%s (or …_FILE) and TENANTGATE_DATA_DIR name two %s: say which is meant with --%s or --data-dir", variable, what, urlFlag)
	case written["data-dir"]:
		*url = ""
	default:
		*dir = ""
	}
	return nil
}

// url gives the control store's URL.
func (f *storeFlags) url() (string, error) {
	switch {
	case f.DataDir != "":
		admin, err := embedded.Find(f.DataDir)
		if err != nil {
			return "", err
		}
		return inDatabase(admin, devDatabase)
	case f.ControlDatabaseURL != "":
		return f.ControlDatabaseURL, nil
	}
	return "", errors.New("which control store? give --control-database-url, or --data-dir for that of a running tenantgate dev")
}

// inDatabase gives a URL with another database in it.
func inDatabase(rawURL, database string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", errors.New("the embedded database's URL can't be read")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// with runs an operation on the store.
func (f *storeFlags) with(ctx context.Context, operate func(*control.Store) error) error {
	return f.configured(ctx, control.Config{}, operate)
}

// configured is with on a store that is more than a URL.
func (f *storeFlags) configured(ctx context.Context, cfg control.Config, operate func(*control.Store) error) (err error) {
	if cfg.ControlURL, err = f.url(); err != nil {
		return err
	}
	store, err := control.Open(ctx, cfg)
	if err != nil {
		return fmt.Errorf("opening the control store: %w", err)
	}
	defer store.Close()
	return forOperator(operate(store))
}

// forOperator drops from an error of the store what is meant for callers of the interface,
// or for nobody.
func forOperator(err error) error {
	var told *proxy.Error
	if !errors.As(err, &told) {
		return err
	}
	switch told.Code {
	case proxy.NotFound, proxy.InvalidRequest, proxy.ConstraintViolation:
		return errors.New(told.Message)
	}
	return err
}

// missing says of what there is none, where the store says that something is not there.
func missing(err error, what, id string) error {
	var told *proxy.Error
	if errors.As(err, &told) && told.Code == proxy.NotFound {
		return fmt.Errorf("there is no %s %s", what, quoted(id))
	}
	return err
}

// checkName refuses what the store would, in words.
func checkName(name string) error {
	if n := utf8.RuneCountInString(strings.TrimSpace(name)); n < 1 || n > 100 || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%q can't be a name: it needs 1 to 100 characters, and no control characters", name)
	}
	return nil
}

// table is what a command prints: for a person in columns, for a script as JSON.
type table struct {
	columns []string
	rows    [][]any
	note    string // printed below the columns, for a person only
}

// print writes value as JSON, or the table.
func (f *storeFlags) print(c *console, value any, t table) error {
	if f.JSON {
		e := json.NewEncoder(c.Out)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for i, name := range t.columns {
		fmt.Fprint(w, name, end(i, len(t.columns)))
	}
	for _, row := range t.rows {
		for i, cell := range row {
			fmt.Fprint(w, cell, end(i, len(row)))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if t.note != "" {
		_, err := fmt.Fprintln(c.Out, "\n"+t.note)
		return err
	}
	return nil
}

func end(i, n int) string {
	if i == n-1 {
		return "\n"
	}
	return "\t"
}

// stamp writes a time as the interface does; null for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

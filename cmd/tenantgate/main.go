// Command tenantgate is a firewall in front of a shared Postgres: it gives every server
// (tenant) a database of its own. See README.md; `tenantgate --help` lists the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

// version, as the file VERSION has it, and commit are set by the linker (see the Makefile).
var (
	version = "dev"
	commit  = "unknown"
)

// build names the binary: its version and commit, the compiler, and the platform it is for.
func build() string {
	return fmt.Sprintf("tenantgate %s (commit %s, %s, %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// app is the command line. The order of the commands is that of the help.
type app struct {
	Dev     devCommand     `cmd:"" help:"Run the service on an embedded Postgres, with a demo project: for trials and tests."`
	Serve   serveCommand   `cmd:"" help:"Run the service in front of a database that has a table of end users."`
	Migrate migrateCommand `cmd:"" help:"Create or update the control store's tables, what row-level security needs, and the bundled tables (end_users, conversations, messages, files)."`
	Project projectCommand `cmd:"" help:"Manage projects."`
	Server  serverCommand  `cmd:"" help:"Manage servers (tenants)."`
	Token   tokenCommand   `cmd:"" help:"Manage developers' access tokens."`
	Key     keyCommand     `cmd:"" help:"Manage the keys that sign, for row-level security, which server a statement is for. For API keys see tenantgate server rotate-key."`
	Check   checkCommand   `cmd:"" help:"Show which SQL statements a policy admits, and their rewritten text. Needs no database."`
	Doctor  doctorCommand  `cmd:"" help:"Find what in a database lets one server read, change or learn about another's rows, and print the SQL that fixes it."`
	Version versionCommand `cmd:"" help:"Print the version, the commit, the Go version and the platform."`

	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version, the commit, the Go version and the platform."`
}

// console is what a command talks to.
type console struct {
	Out, Err io.Writer
}

type versionCommand struct{}

func (versionCommand) Run(c *console) error {
	_, err := fmt.Fprintln(c.Out, build())
	return err
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		lazyTimers()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], console{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run carries out one command line and gives the exit code: 0 done, 1 it failed, 2 it
// was not understood, or what it was given could not be read.
func run(ctx context.Context, args []string, c console) int {
	parser, err := newParser(c)
	if err != nil {
		fmt.Fprintln(c.Err, "tenantgate:", err)
		return 2
	}
	if len(args) > 0 && args[0] == "help" { // as in help doctor
		args = append(slices.Clone(args[1:]), "--help")
	}
	command, err := parse(parser, args)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err == nil {
		err = checkURLs(command)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "tenantgate:", plain(err))
		fmt.Fprintf(c.Err, "see %s --help\n", misused(err))
		return 2
	}
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(&c); err != nil {
		if !errors.Is(err, errSilent) {
			fmt.Fprintln(c.Err, "tenantgate:", err)
		}
		if errors.As(err, &unusable{}) {
			return 2
		}
		return 1
	}
	return 0
}

// unusable is what a command was given and can't work with, where it has something else
// to say by failing.
type unusable struct{ error }

var (
	errHelp   = errors.New("help was shown")
	errSilent = errors.New("the command has printed what is wrong")
)

// parse understands a command line. The library asks to exit once it has shown the
// help, and would go on parsing if that returned.
func parse(parser *kong.Kong, args []string) (command *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != errHelp { //nolint:errorlint // the very value
				panic(p)
			}
			err = errHelp
		}
	}()
	return parser.Parse(args)
}

// misused is the command that was misused: its help is what helps.
func misused(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		return "tenantgate " + parse.Context.Selected().Path()
	}
	return "tenantgate"
}

// dashed is how the library says that a flag's value looks like a flag.
var dashed = regexp.MustCompile(`^(--[a-z-]+): expected .* but got "(-[^"]*)" \((?:short|long) flag\)`)

// ended is how it says that a flag stands last, without a value.
var ended = regexp.MustCompile(`^(--[a-z-]+): expected .* but got "EOL"`)

// plain says what the library says, in words for somebody who does not know it.
func plain(err error) string {
	if m := dashed.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s needs a value; one that begins with a dash is written %[1]s=%s", m[1], m[2])
	}
	if m := ended.FindStringSubmatch(err.Error()); m != nil {
		return m[1] + " needs a value"
	}
	return err.Error()
}

func newParser(c console) (*kong.Kong, error) {
	return kong.New(&app{},
		kong.Name("tenantgate"),
		kong.Description("A firewall in front of a shared Postgres that gives every server (tenant) a database of its own.\n\nEach flag can also be set by the environment variable in brackets behind it. A flag that is marked secret can be read from a file: append _FILE to the variable's name, and give it the file's path. All flags of dev and serve, secrets excepted, can stand in the file of --config. Flags win over variables, variables over that file."),
		kong.Vars{"version": build()},
		kong.Writers(c.Out, c.Err),
		kong.Exit(func(int) { panic(errHelp) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.DefaultEnvars("TENANTGATE"),
		kong.Resolvers(kong.ResolverFunc(secretFile)),
	)
}

// Command bench measures tenantgate: its cost (make bench), beside a server that sends without
// pause or attacks (make bench-crowd), with ever more servers and statements (make bench-grow),
// its front end for Postgres' protocol beside PgBouncer (make bench-wire), and a newer version
// beside an older one (make bench-versions).
//
// For the cost, the same clients send each statement to five fronts on one Postgres, in turns of
// about a second: tenantgate as shipped, with all walls; a bare program, which runs one prepared
// statement and checks nothing (bare.go); the same behind row-level security; a program as one
// would write it by hand (idiomatic.go); and pgbench, directly to Postgres. Each front is a process of
// its own, so that its use of the machine can be measured. Printed are medians over the rounds, also
// of the ratios: a busy machine slows a whole round down.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// arguments are the command line.
type arguments struct {
	Compare  compareCommand  `cmd:"" default:"withargs" help:"Measure the fronts side by side, and print a table."`
	Crowd    crowdCommand    `cmd:"" help:"Measure what quiet servers get beside one that asks without end, and print a table."`
	Grow     growCommand     `cmd:"" help:"Measure with ever more servers and ever more texts of statements, and print a table of each."`
	Wire     wireCommand     `cmd:"" help:"Measure Postgres' protocol beside PgBouncer and Postgres itself, and print a table of each mode."`
	Versions versionsCommand `cmd:"" help:"Measure a newer and an older tenantgate in turns, and print a table of the ratios."`
	Attacker attackerCommand `cmd:"" hidden:"" help:"Be the attackers of crowd --attack."`
	Front    frontCommand    `cmd:"" hidden:"" help:"Be one of the fronts that tenantgate is compared with."`
}

// options are what all that measure have.
type options struct {
	Tenantgate string        `required:"" placeholder:"FILE" help:"The program to measure, such as bin/tenantgate."`
	PGBin      string        `name:"pg-bin" placeholder:"DIR" help:"Folder with initdb, postgres and pgbench; searched when not given."`
	Rounds     int           `default:"5" help:"Turns of each that is measured."`
	Turn       time.Duration `default:"1s" help:"Length of a turn."`
	Pool       int           `default:"16" help:"Connections that each front has to Postgres."`
	Prepared   int           `name:"prepared-statements" default:"256" help:"Statements that tenantgate keeps prepared on each of them at most."`
	Out        string        `placeholder:"FILE" help:"Put the tables into this page too, in the place of the last ones."`

	apart bool // tenantgate is a session of its own
}

// compareCommand measures what tenantgate costs.
type compareCommand struct {
	options
	Connections []int    `default:"1,16,64" help:"Numbers of clients at once."`
	Statement   []string `placeholder:"NAME" help:"Only these statements: point, list, thousand, insert, update."`
}

// crowdCommand measures how servers share.
type crowdCommand struct {
	options
	Quiet   int           `default:"10" help:"Servers that ask now and then, with one client each."`
	Pause   time.Duration `default:"10ms" help:"Between an answer to one of those and its next request."`
	Clients int           `default:"64" help:"Clients of the server that asks without end."`

	Attack []string `placeholder:"NAME" help:"Measure beside somebody who means harm instead: uncancellable, plans, records, transactions, texts, half-sent, together, or all of them."`
	Before string   `placeholder:"FILE" help:"An older program to measure in turns with the other one, for --attack."`
}

// growCommand measures what becomes of the cost of a request.
type growCommand struct {
	options
	Servers []int `default:"10,1000,100000" help:"Numbers of servers that are asked for in turn; --servers= leaves them out."`
	Texts   []int `default:"10,1000,10000" help:"Numbers of texts that are sent in turn; --texts= leaves them out."`
	Clients int   `default:"16" help:"Clients at once."`
}

// wireCommand measures what the front end for Postgres' protocol costs.
type wireCommand struct {
	options
	PGBouncer []string      `name:"pgbouncer" placeholder:"FILE" help:"A pgbouncer to compare with; may be repeated, the newest last: the ratios are to that."`
	Only      []string      `placeholder:"NAME" help:"Only fronts whose name begins so: direct, pgbouncer, tenantgate."`
	Mode      []string      `default:"extended,prepared,simple" help:"Ways in which pgbench sends."`
	Statement []string      `default:"point,thousand" help:"Statements: point, thousand."`
	Clients   int           `default:"16" help:"Clients at once."`
	Idle      int           `default:"5000" help:"Idle clients whose memory is measured; 0 for none."`
	Settle    time.Duration `default:"5s" help:"Time before it is."`
}

// versionsCommand measures what became slower or faster.
type versionsCommand struct {
	options
	Before      string   `required:"" type:"existingfile" placeholder:"FILE" help:"The older program."`
	Connections []int    `default:"1,16" help:"Numbers of clients at once over HTTP."`
	Statement   []string `default:"point,list,thousand,insert,update" help:"Statements over HTTP; --statement= leaves them out."`
	Mode        []string `default:"extended,prepared,simple" help:"Ways in which pgbench sends; --mode= leaves them out."`
	Clients     int      `default:"16" help:"Clients of pgbench at once."`
}

// frontCommand is what the processes run that are compared with tenantgate.
type frontCommand struct {
	Kind      string `arg:"" enum:"bare,walled,idiomatic" help:"Which one."`
	URL       string `required:"" env:"BENCH_DATABASE_URL" help:"The database."`
	Server    string `required:"" help:"Whose rows it gives."`
	Signature string `env:"BENCH_SIGNATURE" help:"The server's, for a role that row-level security binds."`
	Addr      string `required:"" help:"Where it listens."`
	Pool      int    `default:"16" help:"Connections to Postgres."`
}

func main() {
	var args arguments
	parsed := kong.Parse(&args, kong.Name("bench"), kong.Description("Measures tenantgate beside what stands for its price."), kong.UsageOnError())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.FatalIfErrorf(parsed.Run())
}

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// settings are the flags that dev and serve share. The configuration file has the same
// names in camel case.
type settings struct {
	Config            configFile    `name:"config" placeholder:"FILE" help:"YAML file with any of these settings in camel case (httpAddr), and the sections endUsers and jwt." yaml:"-"`
	HTTPAddr          string        `name:"http-addr" default:"127.0.0.1:8080" help:"Address of the REST interface. 0.0.0.0:8080 means all IPv4 addresses only, :8080 also IPv6; this holds for the other addresses, too." yaml:"httpAddr"`
	HTTPTLS           string        `name:"http-tls" enum:"auto,off" default:"auto" help:"TLS for the REST interface. auto: HTTPS if --tls-cert is set; without it REST needs a loopback address, and tenantgate does not start on any other. off: plain HTTP on every address, behind a load balancer or another proxy that ends TLS." yaml:"httpTls"`
	PGAddr            string        `name:"pg-addr" default:"auto" placeholder:"ADDR" help:"Address to listen on for Postgres clients (psql and drivers). off: do not listen. auto: off for serve, 127.0.0.1:6432 for dev." yaml:"pgAddr"`
	PGTLS             string        `name:"pg-tls" enum:"auto,require,allow,disable" default:"auto" help:"TLS for Postgres clients. require: only with TLS; allow: with or without; disable: only without. auto: require, but on a loopback address allow if there is a certificate, else disable." yaml:"pgTls"`
	PGTLSCert         string        `name:"pg-tls-cert" placeholder:"FILE" help:"Certificate chain (PEM) for Postgres clients. By default that of --tls-cert." yaml:"pgTlsCert"`
	PGTLSKey          string        `name:"pg-tls-key" placeholder:"FILE" help:"Private key (PEM) of --pg-tls-cert." yaml:"pgTlsKey"`
	PGPolicy          string        `name:"pg-policy" default:"auto" placeholder:"NAME" help:"Policy for Postgres clients whose server and project have none assigned. auto: inject if it is loaded, else the default policy." yaml:"pgPolicy"`
	PGMaxClients      int           `name:"pg-max-clients" default:"10000" help:"Maximum number of connected Postgres clients, all projects together; one project may have --project-share of them. An idle client costs some kilobytes and no database connection. Lowered at the start if the limit of file descriptors is too low for it." yaml:"pgMaxClients"`
	PGIdleTransaction time.Duration `name:"pg-idle-transaction" default:"60s" help:"How long a Postgres client may leave a transaction open without sending a statement. Then it is rolled back and the client disconnected, because it holds a database connection." yaml:"pgIdleTransaction"`
	PGTransaction     time.Duration `name:"pg-transaction-timeout" default:"5m" help:"How long a transaction of a Postgres client may last in all. Then it is rolled back and the client disconnected (25P04)." yaml:"pgTransactionTimeout"`
	PGContended       time.Duration `name:"pg-contended-timeout" default:"10s" help:"How long a transaction of a Postgres client may last while another server or project waits for a database connection and holds none, or at least two fewer than the transaction's own server or project. Then it ends as with --pg-transaction-timeout." yaml:"pgContendedTimeout"`
	OpsAddr           string        `name:"ops-addr" default:"127.0.0.1:9090" help:"Address of /metrics, /healthz and /readyz; don't expose it." yaml:"opsAddr"`
	BasePath          string        `name:"base-path" help:"Path in front of every endpoint, such as /x." yaml:"basePath"`
	Policy            []string      `name:"policy" placeholder:"FILE" help:"Policy file, or the name of a bundled one; may be repeated, the first is the default policy. By default the bundled policies (default, inject, readonly)." yaml:"policy"`
	RequestsPerSecond *int          `name:"requests-per-second" placeholder:"N" help:"Requests and statements of one server a second, instead of requestsPerSecond in the policies; burst is then 2 x N, the number that may come at once after a pause. 0 is no limit." yaml:"requestsPerSecond"`
	ProjectBudget     int           `name:"project-budget" default:"25" placeholder:"N" help:"Limit of a project: its servers together may send at most N times as many requests a second, and N times as large a burst, as one of them may (${default} by default); 0 is no limit." yaml:"projectBudget"`
	MaxConcurrent     *int          `name:"max-concurrent" placeholder:"N" help:"Statements and open transactions of one server at once, instead of maxConcurrent in the policies; 0 is no limit." yaml:"maxConcurrent"`
	MaxServers        int           `name:"max-servers-per-project" default:"1000" help:"Maximum number of servers that developers can create in one project; 0 is no limit. It does not apply to the operator's tenantgate server create." yaml:"maxServersPerProject"`
	MaxBodyBytes      int           `name:"max-body-bytes" default:"1048576" help:"Size limit of a request's body." yaml:"maxBodyBytes"`
	MaxConns          int           `name:"max-conns" default:"4096" help:"Maximum number of open HTTP connections. When it is reached, connections that have shown no valid credentials are closed first, then those idle for longest. Lowered at the start if the limit of file descriptors is too low for it." yaml:"maxConns"`
	MaxConnsPerIP     int           `name:"max-conns-per-ip" default:"0" help:"Maximum number of open connections from one client address, counted separately for HTTP and for Postgres clients; 0 is no limit." yaml:"maxConnsPerIp"`
	MaxUnauthPerIP    int           `name:"max-unauthenticated-per-ip" default:"256" help:"Maximum number of connections from one client address that have shown no valid credentials yet, counted separately for HTTP and for Postgres clients. Beyond it the oldest is closed for the new one. Everybody behind one NAT counts as one address. 0 is no limit." yaml:"maxUnauthenticatedPerIp"`
	TLSCert           string        `name:"tls-cert" placeholder:"FILE" help:"Certificate chain (PEM): serve HTTPS. Needed on every address but a loopback one, unless --http-tls is off." yaml:"tlsCert"`
	TLSKey            string        `name:"tls-key" placeholder:"FILE" help:"Private key (PEM) of --tls-cert." yaml:"tlsKey"`
	CORSOrigins       []string      `name:"cors-origin" placeholder:"ORIGIN" help:"Origin whose scripts may call the interface, or *; may be repeated. Off by default." yaml:"corsOrigins"`
	PoolMin           int32         `name:"pool-min" default:"2" help:"Database connections kept open for statements." yaml:"poolMin"`
	PoolMax           int32         `name:"pool-max" default:"20" help:"Maximum number of database connections for statements. Projects and their servers get them in turns." yaml:"poolMax"`
	ProjectShare      int           `name:"project-share" default:"75" placeholder:"PERCENT" help:"How much of what all projects share, such as database connections, one project may hold, in percent (${default} by default). One server may hold three quarters of that: of 20 connections 15 for a project and 12 for a server. Set 100 if there is only one project." yaml:"projectShare"`
	LockTimeout       time.Duration `name:"lock-timeout" default:"5s" help:"How long a statement waits for each lock that another transaction holds. A Postgres client can set a shorter time, not a longer one." yaml:"lockTimeout"`
	PoolWait          time.Duration `name:"pool-wait" default:"1s" help:"How long a request waits for a free database connection. Then it gets 503 overloaded, or a Postgres client SQLSTATE 53300." yaml:"poolWait"`
	Prepared          int           `name:"prepared-statements" default:"256" help:"Maximum number of prepared statements that each database connection keeps. Each takes some 40 KB of Postgres' memory. A statement that is not kept is parsed and planned anew each time." yaml:"preparedStatements"`
	PreparedOff       bool          `name:"no-prepared-statements" help:"Keep no prepared statements: needed if a pooler in transaction mode is in front of the database." yaml:"noPreparedStatements"`
	SearchPath        string        `name:"search-path" default:"auto" placeholder:"LIST" help:"Schemas in which statements find functions and operators. auto: the search_path of the tables' owner, with pg_catalog first and pg_temp last, without schemas in which the statement role may create objects. A list replaces all of that: name pg_catalog, the schemas of the extensions whose operators statements need, and pg_temp." yaml:"searchPath"`
	RLS               string        `name:"rls" enum:"required,auto,off" default:"auto" help:"Row-level security as the wall behind the policy. required: serve nothing until it protects every scoped table. auto: use it on each table that it protects. off: do not use it." yaml:"rls"`
	DrainTimeout      time.Duration `name:"drain-timeout" default:"10s" help:"Time that running requests get to end when the service is stopped." yaml:"drainTimeout"`
	LogLevel          string        `name:"log-level" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error." yaml:"logLevel"`
	LogFormat         string        `name:"log-format" enum:"auto,json,text" default:"auto" help:"json or text; auto is text for dev and json for serve." yaml:"logFormat"`
}

// configFile is the --config flag. It is read before the other flags are settled.
type configFile string

// fileConfig is a configuration file: the settings, and the sections.
type fileConfig struct {
	Settings settings        `yaml:",inline"`
	EndUsers endUsersSection `yaml:"endUsers"`
	JWT      *jwtSection     `yaml:"jwt"`
	given    map[string]any  // what the file names, so that a zero is told from nothing
}

// read gives the file's contents, or what is wrong in it and where. No path is an
// empty file.
func (path configFile) read() (*fileConfig, error) {
	c := &fileConfig{}
	if path == "" {
		return c, nil
	}
	src, err := os.ReadFile(string(path))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(src, c, yaml.Strict()); err != nil {
		return nil, explainConfig(path, err)
	}
	if err := yaml.Unmarshal(src, &c.given); err != nil {
		return nil, explainConfig(path, err)
	}
	return c, nil
}

// BeforeResolve reads the file and offers its values for the flags that nobody set.
func (configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path, _ := ctx.FlagValue(trace.Flag).(configFile)
	c, err := path.read()
	if err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		return c.named(flag)
	}))
	return nil
}

// named gives a setting of the file as the flag would be written; nil where the file
// has none or the environment comes first.
func (c *fileConfig) named(flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	v := reflect.ValueOf(c.Settings)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Tag.Get("name") != flag.Name || c.given[field.Tag.Get("yaml")] == nil {
			continue
		}
		value := v.Field(i)
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if list, ok := value.Interface().([]string); ok {
			if len(list) == 0 {
				return nil, nil
			}
			return strings.Join(list, ","), nil
		}
		return fmt.Sprint(value.Interface()), nil
	}
	return nil, nil
}

// secretFile reads a flag that is marked secret from the file that its environment
// variable names with _FILE appended. The variable itself comes first.
func secretFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !flag.Tag.Has("secret") || len(flag.Envs) == 0 {
		return nil, nil
	}
	if _, set := os.LookupEnv(flag.Envs[0]); set {
		return nil, nil
	}
	path, set := os.LookupEnv(flag.Envs[0] + "_FILE")
	if !set {
		return nil, nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s_FILE: %w", flag.Envs[0], err)
	}
	return strings.TrimRight(string(src), "\r\n"), nil
}

// limit turns a flag in which 0 is no limit into a limit in which negative is.
func limit(flag *int) int {
	switch {
	case flag == nil:
		return 0
	case *flag <= 0:
		return -1
	}
	return *flag
}

// tlsConfig gives what REST clients get for TLS; nil is plain HTTP, which the network sees only where --http-tls says so.
func (s *settings) tlsConfig() (*tls.Config, error) {
	config, err := readTLS("tls", s.TLSCert, s.TLSKey)
	switch {
	case err != nil:
		return nil, err
	case config != nil && s.HTTPTLS == "off":
		return nil, errors.New("--http-tls=off is plain HTTP, and --tls-cert is for HTTPS: use one of them; a certificate only for Postgres clients is --pg-tls-cert")
	case config == nil && s.HTTPTLS != "off" && !loopback(s.HTTPAddr):
		return nil, fmt.Errorf("--http-addr %s is reached over the network, so REST clients must use TLS: give --tls-cert and --tls-key, or --http-tls=off behind a proxy that ends TLS", s.HTTPAddr)
	}
	return config, nil
}

// readTLS makes a server's configuration of the files that --prefix-cert and --prefix-key name;
// nil where they name none.
func readTLS(prefix, cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, fmt.Errorf("--%s-cert and --%[1]s-key go together", prefix)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// searchPath is the search_path of statements; "" for that of the tables' owner.
func (s *settings) searchPath() string {
	if s.SearchPath == auto {
		return ""
	}
	return s.SearchPath
}

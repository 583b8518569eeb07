package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// announce tells that the service is ready: to scripts in the file, to a person in words.
func (d *devCommand) announce(c *console, sv *service, home string, demo credentials) error {
	scheme := "http"
	if d.TLSCert != "" {
		scheme = "https"
	}
	demo.BaseURL = scheme + "://" + reachable(sv.httpListener.Addr()) + d.BasePath
	demo.OpsURL = "http://" + reachable(sv.opsListener.Addr())
	demo.PgURL = sv.pgURL(demo.ServerID, demo.APIKey)
	if d.CredentialsFile != "" {
		if err := writeJSON(d.CredentialsFile, demo); err != nil {
			return fmt.Errorf("writing the credentials file: %w", err)
		}
	}
	_, err := fmt.Fprintf(c.Out, `
tenantgate is ready, on an embedded Postgres in %s

  base URL   %s        (documentation: %[2]s/docs)
  metrics    %s/metrics
  project    %s
  token      %s
  server     %s
  API key    %s%[12]s

As variables, for a second terminal:

  export BASE_URL=%[2]s PROJECT=%[4]s SERVER=%[6]s TOKEN=%[5]s KEY=%[7]s%[13]s

Run a statement as this server:

  curl -sS %[2]s/api/developer/projects/%[4]s/servers/%[6]s/database/query \
    -H 'Authorization: Bearer %[5]s' -H 'Content-Type: application/json' \
    -d '{"query": "SELECT id, name, email FROM end_users WHERE server_id = ? ORDER BY name", "args": []}'

Look an end user up by e-mail, as this server's application:

  curl -sS '%[2]s/api/auth/user/by-email?email=ada@example.com' \
    -H 'X-Server-ID: %[6]s' -H 'X-API-Key: %[7]s'

%[11]sManage projects, servers and tokens, while this runs (tenantgate --help):

  %[8]s project list --data-dir %[9]s

Ctrl-C stops the service and its Postgres. To start afresh, remove %[10]s after that.
`, home, demo.BaseURL, demo.OpsURL, demo.ProjectID, demo.AccessToken, demo.ServerID, demo.APIKey,
		os.Args[0], quoted(d.DataDir), d.traces(home), psqlHint(demo.PgURL), keyNote(demo.former), pgVariable(demo.PgURL))
	return err
}

// keyNote tells of a key that somebody has rotated: the new one is known to him alone.
func keyNote(former bool) string {
	if former {
		return "        (no longer valid: it was rotated; put the new one into the lines below)"
	}
	return ""
}

// pgVariable is the variable that libpq's programs and most drivers take; nothing where no Postgres client can connect.
func pgVariable(url string) string {
	if url == "" {
		return ""
	}
	return " DATABASE_URL=" + quoted(url)
}

// psqlHint tells how to be the server with psql; nothing where no Postgres client can.
func psqlHint(url string) string {
	if url == "" {
		return ""
	}
	return "Or be this server with psql, or any driver:\n\n  psql " + quoted(url) + " -c 'SELECT id, name, email FROM end_users ORDER BY name'\n\n"
}

// reachable is a listener's address as a client on this machine may use it.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// traces names what is to be removed for a fresh start.
func (d *devCommand) traces(home string) string {
	if dir, err := filepath.Abs(d.DataDir); err == nil && dir != home {
		return quoted(d.DataDir) + " and " + quoted(home)
	}
	return quoted(d.DataDir)
}

// quoted makes a path, or what a command line was given, one word of a shell's.
func quoted(path string) string {
	if path == "" || strings.ContainsAny(path, " \t\n'\"\\$`*?[]#~&;<>|(){}!") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

package doctor

import (
	"crypto/tls"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
)

// way is one way that a URL leads to a database.
type way struct {
	host string
	tls  *tls.Config
}

// wire judges how a URL connects: what goes over a network goes encrypted, to a server
// whose certificate was verified.
func wire(config *pgx.ConnConfig) []Finding {
	ways := []way{{config.Host, config.TLSConfig}}
	for _, f := range config.Fallbacks {
		ways = append(ways, way{f.Host, f.TLSConfig})
	}
	var plain, unverified string
	for _, w := range ways {
		switch {
		case local(w.host):
		case w.tls == nil:
			plain = w.host
		case w.tls.InsecureSkipVerify && w.tls.VerifyPeerCertificate == nil && w.tls.VerifyConnection == nil:
			unverified = w.host
		}
	}
	const instead = "No SQL fixes it: write sslmode=verify-full, and sslrootcert with the CA's file, into the URL."
	switch {
	case plain != "":
		return []Finding{{Grade: Risk, Check: "server-tls", Object: plain, Instead: instead,
			Says: "connections to " + plain + " are not sure to be encrypted: whoever is on the way reads every server's rows and can sign in as the statement role"}}
	case unverified != "":
		return []Finding{{Grade: Note, Check: "server-certificate", Object: unverified, Instead: instead,
			Says: "the certificate of " + unverified + " is not verified: whoever can stand in for it reads every server's rows"}}
	}
	return nil
}

// local tells whether a host is this machine: a socket's folder, or a loopback address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || ip != nil && ip.IsLoopback()
}

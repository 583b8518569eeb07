package cost

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// The servers and what each has; a conversation has perServer / conversations messages.
const (
	servers       = 200
	perServer     = 100 // end users, and messages
	conversations = 4
)

// rowsSQL fills the tables; each text is a transaction.
var rowsSQL = []string{
	`INSERT INTO end_users (server_id, id, username, email)
		SELECT 's' || s, 'u' || i, 'n' || i, 'u' || i || '@example.com' FROM generate_series(1, 200) AS s, generate_series(1, 100) AS i`,
	`INSERT INTO conversations (server_id, id, end_user_id, title, created_at)
		SELECT 's' || s, 'c' || i, 'u' || i, 't' || i, now() - i * interval '1 hour' FROM generate_series(1, 200) AS s, generate_series(1, 4) AS i`,
	`INSERT INTO messages (server_id, id, conversation_id, role, content, created_at)
		SELECT 's' || s, 'm' || i, 'c' || 1 + i % 4, 'user', 'text number ' || i || ' of an ordinary length', now() - i * interval '1 minute'
		FROM generate_series(1, 200) AS s, generate_series(1, 100) AS i`,
	`VACUUM ANALYZE`,
}

// query is one statement as an application sends it, and as it is written by hand where $1
// is the server and $2 the argument. Arguments are a prefix and a number below of.
type query struct {
	name, text, hand string
	prefix, suffix   string
	of               int
	rows             int
}

var queries = []query{
	{
		"point", "SELECT id, role, content, created_at FROM messages WHERE id = ?",
		"SELECT id, role, content, created_at FROM public.messages WHERE server_id = $1 AND id = $2",
		"m", "", perServer, 1,
	}, {
		"list of 20", "SELECT id, role, content, created_at FROM messages WHERE conversation_id = ? ORDER BY created_at DESC LIMIT 20",
		"SELECT id, role, content, created_at FROM public.messages WHERE server_id = $1 AND conversation_id = $2 ORDER BY created_at DESC LIMIT 20",
		"c", "", conversations, 20,
	}, {
		"join of 3", "SELECT m.id, c.title, u.username FROM messages m JOIN conversations c ON c.id = m.conversation_id JOIN end_users u ON u.id = c.end_user_id WHERE m.id = ?",
		"SELECT m.id, c.title, u.username FROM public.messages m JOIN public.conversations c ON c.server_id = $1 AND c.id = m.conversation_id JOIN public.end_users u ON u.server_id = $1 AND u.id = c.end_user_id WHERE m.server_id = $1 AND m.id = $2",
		"m", "", perServer, 1,
	}, {
		"ILIKE", "SELECT id FROM messages WHERE content ILIKE ?",
		"SELECT id FROM public.messages WHERE server_id = $1 AND content ILIKE $2",
		"% ", " of%", perServer, 1,
	}, {
		"lower(email)", "SELECT id, username FROM end_users WHERE lower(email) = ? AND email <> ''",
		"SELECT id, username FROM public.end_users WHERE server_id = $1 AND lower(email) = $2 AND email <> ''",
		"u", "@example.com", perServer, 1,
	},
}

// sample is a query with a server and an argument.
type sample struct {
	server       string
	hand         string
	params       [][]byte
	free, walled policy.Bound // for tables without and with row-level security
}

// samples makes a turn's.
func (b *bench) samples(t *testing.T, q query) []sample {
	t.Helper()
	list := make([]sample, each)
	for i := range list {
		server, arg := "s"+strconv.Itoa(1+rand.IntN(servers)), q.prefix+strconv.Itoa(1+rand.IntN(q.of))+q.suffix
		list[i] = sample{
			server: server, hand: q.hand, params: [][]byte{[]byte(server), []byte(arg)},
			free: bind(t, b.free.approved[q.text], server, arg), walled: bind(t, b.walled.approved[q.text], server, arg),
		}
	}
	return list
}

func bind(t *testing.T, a *policy.Approved, server, arg string) policy.Bound {
	t.Helper()
	bound, reason := a.Bind(server, []policy.Arg{{Kind: policy.String, Text: arg}})
	if reason != nil {
		t.Fatalf("%+v", *reason)
	}
	return bound
}

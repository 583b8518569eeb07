package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// What the database holds: the rows of so many servers, each with so many messages.
const (
	servers  = 200
	messages = 1000
)

// server is the one whose rows are asked for.
const server = "s1"

// statement is one of those that are measured.
type statement struct {
	name    string
	text    string   // as an application sends it to tenantgate
	hand    string   // as it is written by hand; $1 is the server
	columns []string // what it answers; nil for what answers no rows
	args    func(n int) []any
	pgbench string // the same as a script of pgbench
}

const listed = "SELECT id, role, content, created_at FROM messages WHERE "

var listedColumns = []string{"id", "role", "content", "created_at"}

// statements are all that is measured.
var statements = []statement{
	{
		"point", listed + "server_id = ? AND id = ?", listed + "server_id = $1 AND id = $2", listedColumns,
		func(n int) []any { return []any{id(n)} },
		"\\set n random(1, 1000)\n" + listed + "server_id = 's1' AND id = 'm' || :n;",
	},
	{
		"list", listed + "server_id = ? AND conversation_id = ? ORDER BY created_at DESC LIMIT 20",
		listed + "server_id = $1 AND conversation_id = $2 ORDER BY created_at DESC LIMIT 20", listedColumns,
		func(n int) []any { return []any{"c" + strconv.Itoa(n%20+1)} },
		"\\set n random(1, 20)\n" + listed + "server_id = 's1' AND conversation_id = 'c' || :n ORDER BY created_at DESC LIMIT 20;",
	},
	{
		"thousand", listed + "server_id = ? LIMIT 1000", listed + "server_id = $1 LIMIT 1000", listedColumns,
		func(int) []any { return []any{} }, listed + "server_id = 's1' LIMIT 1000;",
	},
	{
		"insert", "INSERT INTO messages (server_id, conversation_id, role, content) VALUES (?, ?, ?, ?)",
		"INSERT INTO messages (server_id, conversation_id, role, content) VALUES ($1, $2, $3, $4)", nil,
		func(n int) []any { return []any{server, "c0", "user", "text number " + strconv.Itoa(n)} },
		"INSERT INTO messages (server_id, conversation_id, role, content) VALUES ('s1', 'c0', 'user', 'text number 1');",
	},
	{
		"update", "UPDATE messages SET content = ? WHERE server_id = ? AND id = ?",
		"UPDATE messages SET content = $2 WHERE server_id = $1 AND id = $3", nil,
		func(n int) []any { return []any{"changed " + strconv.Itoa(n), id(n)} },
		"\\set n random(1, 1000)\nUPDATE messages SET content = 'changed' WHERE server_id = 's1' AND id = 'm' || :n;",
	},
}

const crossed = "SELECT count(*) FROM messages AS a JOIN messages AS b ON a.content < b.content WHERE "

// heavy keeps Postgres busy: it compares each message of a server with every other.
var heavy = statement{
	name:    "heavy",
	text:    crossed + "a.server_id = ? AND b.server_id = ?",
	args:    func(int) []any { return []any{} },
	pgbench: crossed + "a.server_id = 's1' AND b.server_id = 's1';",
}

func id(n int) string { return "m" + strconv.Itoa(n%messages+1) }

// rowsSQL fills the tables; each text is a transaction.
var rowsSQL = []string{
	fmt.Sprintf(`INSERT INTO conversations (server_id, id, title) SELECT 's' || s, 'c' || c, 't' || c FROM generate_series(1, %d) AS s, generate_series(0, 20) AS c`, servers),
	fmt.Sprintf(`INSERT INTO messages (server_id, id, conversation_id, role, content, created_at)
		SELECT 's' || s, 'm' || m, 'c' || 1 + m %% 20, 'user', 'text number ' || m || ' of an "ordinary" length', now() - m * interval '1 minute'
		FROM generate_series(1, %d) AS s, generate_series(1, %d) AS m`, servers, messages),
	`VACUUM ANALYZE`,
}

// body is what is sent to a front for the n-th request.
func (s statement) body(n int) []byte {
	body, err := json.Marshal(map[string]any{"query": s.text, "args": s.args(n)})
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return body
}

package wire

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	catalogMessage = "the catalog is not answered yet"
	catalogHint    = `Tools that read it, such as \d of psql and the introspection of ORMs, do not work here; the policy lists conversations, end_users, files, messages.`
)

// TestCatalog sends what psql's commands, its completion of names, and the introspection of
// ORMs ask a Postgres for, as they do: one refusal is for all of it.
func TestCatalog(t *testing.T) {
	files, err := filepath.Glob("testdata/catalog/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			texts, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := greeted(t)
			for text := range strings.SplitSeq(strings.TrimSuffix(string(texts), "\n"), "\n----\n") {
				w.send(&pgproto3.Query{String: text})
				w.catalog(text)
				if !strings.HasPrefix(text, "COPY") {
					w.send(&pgproto3.Parse{Query: text}, &pgproto3.Sync{})
					w.catalog(text)
				}
			}
			w.is(w.link.did(), "")
		})
	}
}

// catalog takes in the refusal of what a text asks the catalog for.
func (w *sitting) catalog(text string) {
	w.t.Helper()
	refused := w.refusal()
	codes := []string{"table_not_allowed", "function_not_allowed", "type_not_allowed", "construct_not_allowed"}
	if refused.Code != "42501" || refused.Message != catalogMessage || refused.Hint != catalogHint || !slices.Contains(codes, refused.Detail) {
		w.t.Errorf("%s\n%+v", text, refused)
	}
	at := strings.TrimLeft(string([]rune(text)[max(refused.Position-1, 0):]), `"`)
	if refused.Position == 0 || !strings.HasPrefix(at, "pg_") && !strings.HasPrefix(at, "information_schema") && !slices.Contains([]string{"regc", "regt", "to_r"}, at[:4]) {
		w.t.Errorf("%s\nis marked at %.20s", text, at)
	}
}

// refusal takes in an error up to the end of the cycle.
func (w *sitting) refusal() pgproto3.ErrorResponse {
	w.t.Helper()
	var refused pgproto3.ErrorResponse
	for {
		m, err := w.front.Receive()
		if err != nil {
			w.t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			refused = *m
		case *pgproto3.ReadyForQuery:
			return refused
		}
	}
}

// TestNotCatalog has statements refused for other things than the catalog.
func TestNotCatalog(t *testing.T) {
	w := greeted(t)
	for text, want := range map[string]string{
		"SELECT * FROM nothing":                                 "table nothing is not available",
		"SELECT pg_sleep(1)":                                    "function pg_sleep is not available",
		"SELECT pg_sleep(1) FROM messages":                      "function pg_sleep is not available",
		"SELECT nothing FROM messages WHERE id = ANY ($1)":      "",
		"SELECT pg_sleep(1), to_regclass('messages')":           "function pg_sleep is not available",
		"SELECT 'pg_class' FROM nothing, public.messages":       "table nothing is not available",
		"SELECT * FROM nothing WHERE id = 'messages'::regclass": "table nothing is not available",
		"DROP TABLE pg_class":                                   "DROP TABLE is not allowed",
		"SELECT 1 FROM pg_class WHERE":                          "",
	} {
		w.send(&pgproto3.Query{String: text})
		if refused := w.refusal(); refused.Message == catalogMessage || want != "" && refused.Message != want {
			t.Errorf("%s: %+v", text, refused)
		}
	}
}

package wire

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// The answers of a long script are sent as they come.
func TestAnswersOfScriptAreSent(t *testing.T) {
	s, c := replayed(t, quiet{}, encoded(&pgproto3.Query{String: strings.Repeat("SHOW ALL;", maxParts-1)}), 1)
	longest := &longestWrite{Writer: c}
	c.out.To = longest
	if err := s.run(t.Context()); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if longest.n < maxAnswers || longest.n > 2*maxAnswers {
		t.Errorf("%d bytes at once", longest.n)
	}
}

// longestWrite notes how much was written at once.
type longestWrite struct {
	io.Writer
	n int
}

func (w *longestWrite) Write(p []byte) (int, error) {
	w.n = max(w.n, len(p))
	return w.Writer.Write(p)
}

// A statement of a script that has a parameter is told so, as the only one is.
func TestParameterInQuery(t *testing.T) {
	w := greeted(t)
	for _, text := range []string{"SELECT $1", "SELECT id FROM messages; SELECT $1", "SELECT 1; SELECT id FROM messages WHERE id = $1"} {
		if got := w.query(text); !strings.HasSuffix(got, "ERROR 42P02 I") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

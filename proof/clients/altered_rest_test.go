package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proxy"
)

// overREST gives a writer that sends its statements over REST, one in each request.
func (a *alterations) overREST(t *testing.T, s *service) writing {
	t.Helper()
	_, token, err := s.store.CreateToken(t.Context(), control.TokenSpec{Projects: []string{s.project}, Scopes: proxy.Read | proxy.Write})
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + s.http + "/api/developer/projects/" + s.project + "/servers/" + a.server + "/database/query"
	return func(ctx context.Context, _ *pgx.Conn, text string, marks []string) error {
		args := a.argsOf(text, marks[0])
		for i := range args {
			text = strings.Replace(text, fmt.Sprint("$", i+1), "?", 1)
		}
		body, err := json.Marshal(map[string]any{"query": text, "args": args})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		return a.readAnswer(json.NewDecoder(answer.Body), marks[0])
	}
}

// readAnswer looks whether a row comes back as it was sent. An error is given with its code and SQLSTATE, as drivers have it.
func (a *alterations) readAnswer(body *json.Decoder, mark string) error {
	var answer struct {
		Columns []string
		Rows    [][]any
		Error   *struct{ Code, Message, SQLState string }
	}
	body.UseNumber()
	if err := body.Decode(&answer); err != nil {
		return err
	}
	if e := answer.Error; e != nil {
		return &pgconn.PgError{Code: e.SQLState, Message: e.Code + ": " + e.Message}
	}
	for _, row := range answer.Rows {
		if len(row) != len(answer.Columns) {
			a.say("%s: %d values are described as %d columns", mark, len(row), len(answer.Columns))
			continue
		}
		for i, name := range answer.Columns {
			a.check(mark, name, row[i])
		}
	}
	return nil
}

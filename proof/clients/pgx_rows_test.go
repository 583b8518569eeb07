package clients_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const large = 20000

func pgxBatch(t *testing.T, conn *pgx.Conn) {
	b := &pgx.Batch{}
	for n := range 30 {
		b.Queue("INSERT INTO samples (id, t) VALUES ($1, $2)", 1000+n, fmt.Sprint("batch ", n))
	}
	b.Queue("SELECT count(*) FROM samples WHERE id >= $1", 1000)
	results := conn.SendBatch(t.Context(), b)
	for range 30 {
		if _, err := results.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := errors.Join(results.QueryRow().Scan(&n), results.Close()); err != nil || n != 30 {
		t.Fatal(n, err)
	}
	// A batch is one transaction: the second INSERT takes the first along.
	b = &pgx.Batch{}
	b.Queue("INSERT INTO samples (id) VALUES ($1)", 2000)
	b.Queue("INSERT INTO samples (id) VALUES ($1)", 1000)
	equal(t, "a failing batch", state(conn.SendBatch(t.Context(), b).Close()), "23505")
	equal(t, "rolled back", value[int64](t, conn, "SELECT count(*) FROM samples WHERE id = 2000"), 0)
}

// pgxPipeline sends everything before it reads anything. What follows an error is skipped up
// to the next Sync.
func pgxPipeline(t *testing.T, conn *pgx.Conn) {
	p := conn.PgConn().StartPipeline(t.Context())
	p.SendPrepare("piped", "SELECT $1::int4 + 1", nil)
	for n := range 20 {
		p.SendQueryPrepared("piped", [][]byte{fmt.Append(nil, n)}, nil, nil)
	}
	p.SendPipelineSync()
	p.SendQueryParams("SELECT 1 / $1::int4", [][]byte{[]byte("0")}, []uint32{23}, nil, nil)
	p.SendQueryParams("SELECT 'skipped'", nil, nil, nil, nil)
	p.SendPipelineSync()
	p.SendQueryParams("SELECT 'again'", nil, nil, nil, nil)
	p.SendDeallocate("piped")
	p.SendPipelineSync()
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(piped(t, p), " ")
	var want strings.Builder
	want.WriteString("prepared")
	for n := range 20 {
		fmt.Fprintf(&want, " %d", n+1)
	}
	equal(t, "the pipeline", got, want.String()+" sync 22012 sync again closed sync")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// piped tells what a pipeline gave, up to its third Sync.
func piped(t *testing.T, p *pgconn.Pipeline) (got []string) {
	t.Helper()
	for syncs := 0; syncs < 3; {
		res, err := p.GetResults()
		switch x := res.(type) {
		case *pgconn.PipelineSync:
			syncs++
			got = append(got, "sync")
		case *pgconn.StatementDescription:
			got = append(got, "prepared")
		case *pgconn.CloseComplete:
			got = append(got, "closed")
		case *pgconn.ResultReader:
			read := x.Read()
			if read.Err != nil {
				got = append(got, state(read.Err))
			}
			for _, row := range read.Rows {
				got = append(got, string(row[0]))
			}
		default:
			if err == nil {
				t.Fatalf("an odd result %T", res)
			}
			got = append(got, state(err))
			if len(got) > 100 {
				t.Fatal(got)
			}
		}
	}
	return got
}

func pgxLarge(t *testing.T, conn *pgx.Conn) {
	exec1(t, conn, "INSERT INTO accounts (aid, bid, filler) SELECT n, $1, 'filled' FROM generate_series(1, $2::int4) AS n", 1, large)
	rows, err := conn.Query(t.Context(), "SELECT aid, filler FROM accounts ORDER BY aid")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		var aid int
		var filler string
		if err := rows.Scan(&aid, &filler); err != nil || aid != n+1 || strings.TrimSpace(filler) != "filled" {
			t.Fatal(n, aid, filler, err)
		}
		n++
	}
	if rows.Err() != nil || n != large {
		t.Error(n, rows.Err())
	}
}

// pgxCursor reads the rows that pgxLarge made.
func pgxCursor(t *testing.T, conn *pgx.Conn) {
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	exec1(t, tx, "DECLARE page CURSOR FOR SELECT aid FROM accounts ORDER BY aid")
	for _, want := range []int{7000, 7000, 6000, 0} {
		rows, err := tx.Query(t.Context(), "FETCH 7000 FROM page")
		if err != nil {
			t.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil || len(ids) != want {
			t.Fatal(len(ids), err)
		}
	}
	exec1(t, tx, "CLOSE page")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func pgxCopyTo(t *testing.T, conn *pgx.Conn) {
	var text bytes.Buffer
	tag, err := conn.PgConn().CopyTo(t.Context(), &text, "COPY (SELECT aid, bid FROM accounts ORDER BY aid) TO STDOUT")
	if err != nil || tag.RowsAffected() != large || !strings.HasPrefix(text.String(), "1\t1\n2\t1\n") || bytes.Count(text.Bytes(), []byte("\n")) != large {
		t.Fatal(tag, err, text.Len())
	}
	var binary bytes.Buffer
	tag, err = conn.PgConn().CopyTo(t.Context(), &binary, "COPY (SELECT aid FROM accounts WHERE aid = 258) TO STDOUT (FORMAT binary)")
	const want = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x01\x02\xff\xff"
	if err != nil || tag.RowsAffected() != 1 || binary.String() != want {
		t.Fatalf("%v %v %q", tag, err, binary.String())
	}
	_, err = conn.PgConn().CopyTo(t.Context(), &text, "COPY (SELECT nothing FROM accounts) TO STDOUT")
	equal(t, "a wrong one", state(err), "42703")
}

// pgxCopyFrom sends binary rows, as pgx always does, and text.
func pgxCopyFrom(t *testing.T, conn *pgx.Conn) {
	exec1(t, conn, "DELETE FROM accounts")
	source := pgx.CopyFromSlice(large, func(i int) ([]any, error) {
		var filler any = "copied"
		if i%2 == 0 {
			filler = nil
		}
		return []any{i + 1, 2, filler}, nil
	})
	n, err := conn.CopyFrom(t.Context(), pgx.Identifier{"accounts"}, []string{"aid", "bid", "filler"}, source)
	if err != nil || n != large {
		t.Fatal(n, err)
	}
	equal(t, "copied", value[int64](t, conn, "SELECT count(*) FROM accounts WHERE filler IS NULL AND bid = 2 AND abalance = 0"), large/2)
	_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"accounts"}, []string{"aid", "bid"}, pgx.CopyFromRows([][]any{{30001, 1}, {1, 1}}))
	equal(t, "a key that is there", state(err), "23505")
	equal(t, "none of it is kept", value[int64](t, conn, "SELECT count(*) FROM accounts WHERE aid > 30000"), 0)
	_, err = conn.PgConn().CopyFrom(t.Context(), strings.NewReader("30001\t1\n30002\t\\N\n"), "COPY tellers (tid, bid) FROM STDIN")
	equal(t, "NULL where none may be", state(err), "23502")
	tag, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader("30001,1\n30002,2\n"), "COPY tellers (tid, bid) FROM STDIN WITH (FORMAT csv)")
	if err != nil || tag.RowsAffected() != 2 {
		t.Fatal(tag, err)
	}
	_, err = conn.PgConn().CopyFrom(t.Context(), failing{}, "COPY tellers (tid, bid) FROM STDIN")
	equal(t, "given up by the client", state(err), "57014")
}

// failing is a source that breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

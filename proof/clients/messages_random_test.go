package clients_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var (
	randomScripts = flag.Int("random-scripts", 40, "how many scripts TestMessagesRandom makes")
	randomSeed    = flag.Uint64("random-seed", 5000, "the first of them")
)

// inFailure are errors in a transaction that has failed: which of two comes first is
// nobody's concern, and of a Query that failed Postgres leaves a portal without a name.
var inFailure = regexp.MustCompile(`"(08P01|34000)"(}\nReadyForQuery "E")`)

// TestMessagesRandom sends the same messages, in random order, to a plain Postgres and to
// tenantgate: what comes back must be the same. With some seeds (2 is one) a script describes
// the portal without a name that a failed Query leaves in Postgres, and not in tenantgate.
func TestMessagesRandom(t *testing.T) {
	if *given != "" || *targets != "plain,tenantgate" {
		t.Skip("it needs both targets")
	}
	urls, answers := []string{plain(t), tenant(t)}, 0
	for n := range uint64(*randomScripts) { //nolint:gosec // a count
		lines := randomScript(rand.New(rand.NewPCG(*randomSeed+n, 0))) //nolint:gosec // it is to be the same again
		var said [2]string
		for i, url := range urls {
			s := speak(t, url)
			if wrong := s.send(strings.Join(lines, "\n")); wrong != "" {
				t.Fatal(wrong)
			}
			said[i] = inFailure.ReplaceAllString(s.end(), `"25P02"$2`)
			_ = s.Close()
		}
		answers += strings.Count(said[0], "\n")
		if said[0] != said[1] {
			t.Errorf("seed %d:\n%s\n%s", *randomSeed+n, strings.Join(lines, "\n"), difference(said[0], said[1]))
		}
	}
	t.Logf("%d messages came back", answers)
}

// What random scripts are made of. Where it matters what is at a place, there are few
// choices, so that they meet.
var (
	randomQueries = []string{
		"SELECT 1", "SELECT 1/0", "SELECT nothing", "SELEC", "", "SELECT 1; SELECT 2", "SELECT 1; SELECT 1/0", "INSERT INTO samples (id) VALUES (1)",
		"SELECT id FROM samples ORDER BY id", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "BEGIN; SELECT 1",
		"INSERT INTO samples (id) VALUES (2); COMMIT; SELECT 3", "DECLARE c CURSOR FOR SELECT n FROM generate_series(1, 5) AS n", "FETCH 2 FROM c", "CLOSE c",
		"SHOW TimeZone", "DEALLOCATE ALL", "COPY (SELECT 1) TO STDOUT",
	}
	randomStatements = []string{
		"SELECT 1 AS one", "SELECT $1::int4 AS n", "SELECT 10 / $1::int4 AS q", "SELECT n FROM generate_series(1, 5) AS n", "INSERT INTO samples (id) VALUES ($1)",
		"SELECT id FROM samples ORDER BY id", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ROLLBACK TO a", "", "SELECT nothing", "SELEC", "SHOW TimeZone",
		"UPDATE samples SET t = 'x' WHERE id = $1", "FETCH 1 FROM c",
	}
	randomNames = []string{"", "", "a", "b"}
	// randomModes are about the modes of transactions, and what a transaction's end or an error leaves of them.
	randomModes = []string{
		"BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ", "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		"SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "RELEASE a", "SELECT 1/0", "SELECT id FROM samples", "INSERT INTO samples (id) VALUES (1)", "COMMIT", "ROLLBACK",
		"COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "SHOW transaction_isolation", "SHOW transaction_read_only", "SET default_transaction_read_only = on",
	}
)

// randomScript gives the lines of a script.
func randomScript(random *rand.Rand) (lines []string) {
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("Query {\"String\": \"DELETE FROM samples\"}")
	if random.IntN(4) == 0 {
		for range 6 + random.IntN(20) {
			add("Query {\"String\": %q}", pick(randomModes))
		}
		return lines
	}
	for range 4 + random.IntN(20) {
		switch random.IntN(12) {
		case 0, 1:
			text := pick(randomQueries)
			if strings.HasPrefix(text, "BEGIN") {
				add("Sync") // behind other messages of its cycle, tenantgate refuses it
			}
			add("Query {\"String\": %q}", text)
		case 2, 3:
			add("Sync")
		case 4, 5, 6:
			add("Parse {\"Name\": %q, \"Query\": %q}", pick(randomNames), pick(randomStatements))
		case 7, 8:
			parameters := ""
			if random.IntN(2) == 0 {
				parameters = fmt.Sprintf("{\"text\": \"%d\"}", random.IntN(3))
			}
			add("Bind {\"DestinationPortal\": %q, \"PreparedStatement\": %q, \"Parameters\": [%s]}", pick(randomNames), pick(randomNames), parameters)
		case 9, 10:
			add("Execute {\"Portal\": %q, \"MaxRows\": %d}", pick(randomNames), random.IntN(3))
		default:
			add("%s {\"ObjectType\": %q, \"Name\": %q}", pick([]string{"Describe", "Describe", "Close"}), pick([]string{"S", "P"}), pick(randomNames))
		}
	}
	add("Sync")
	return lines
}

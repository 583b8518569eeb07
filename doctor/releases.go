package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// The majors of Postgres that the policies' grammar and lists of functions were made for,
// and the first of which fixes still come.
const (
	oldestMajor = 15
	newestMajor = 18
)

// holesAsOf is the day on which holes was last held against the sources. Then 15.20,
// 16.16, 17.12 and 18.7 were the newest releases.
const holesAsOf = "2026-11-21"

// namedHoles is how many holes a finding names, the newest.
const namedHoles = 3

// hole is one that a statement can use, by itself or to get past row-level security.
// Holes that need the right to make objects, or a client, are left out. Each is described
// at https://www.postgresql.org/support/security/ under its number, and in the release
// notes of the minor releases that mend it.
type hole struct {
	cve   string
	day   string // of the release that mended it
	fixed [newestMajor - oldestMajor + 1]int
	lets  string // what it lets a statement do
}

// What holes let a statement do.
const (
	runsCode   = "run code as the database server"
	overruns   = "write beyond a buffer of the database server"
	seesRows   = "see rows that row-level security hides"
	writesRows = "write rows that row-level security forbids"
)

// holes are the newest first. A major that never had one has 0.
var holes = []hole{
	{"CVE-2026-120141", "2026-11-12", [...]int{20, 16, 12, 7}, runsCode}, // by a function that returns rows; json_populate_recordset is one
	{"CVE-2026-14680", "2026-08-13", [...]int{19, 15, 11, 6}, runsCode},  // by a call of a function with internal arguments
	{"CVE-2026-16239", "2026-08-13", [...]int{19, 15, 11, 6}, runsCode},  // by a cursor that is made again
	{"CVE-2026-14669", "2026-08-13", [...]int{19, 15, 11, 6}, runsCode},  // by to_char
	{"CVE-2026-14664", "2026-08-13", [...]int{19, 15, 11, 6}, runsCode},  // by functions of regular expressions
	{"CVE-2026-14662", "2026-08-13", [...]int{19, 15, 11, 6}, overruns},  // by an overlong tsvector or tsquery
	{"CVE-2026-14666", "2026-08-13", [...]int{19, 15, 11, 6}, seesRows},  // by a plan made before the role was changed
	{"CVE-2026-6473", "2026-05-14", [...]int{18, 14, 10, 4}, overruns},   // by sizes that wrap around
	{"CVE-2026-2006", "2026-02-12", [...]int{16, 12, 8, 2}, runsCode},    // by text with broken characters
	{"CVE-2025-8713", "2025-08-14", [...]int{14, 10, 6, 0}, seesRows},    // from the statistics of partitioned tables
	{"CVE-2024-10976", "2024-11-14", [...]int{9, 5, 1, 0}, seesRows},     // by a plan that is used again under another role
	{"CVE-2023-5869", "2023-11-09", [...]int{5, 1, 0, 0}, runsCode},      // by changing an array
	{"CVE-2023-39418", "2023-08-10", [...]int{4, 0, 0, 0}, writesRows},   // by MERGE
	{"CVE-2023-2455", "2023-05-11", [...]int{3, 0, 0, 0}, seesRows},      // by a function that is inlined under another role
}

// release judges a release by its number, such as 150018 for 15.18.
func release(number int) []Finding {
	major, minor := number/10000, number%10000
	f := Finding{Grade: Risk, Object: fmt.Sprintf("PostgreSQL %d.%d", major, minor), stage: stageRest}
	switch {
	case major < oldestMajor:
		f.Check, f.Says = "release-old", fmt.Sprintf("%s gets no fixes any more: every hole that is found stays open to a statement that gets past the policy", f.Object)
		f.Instead = fmt.Sprintf("No SQL fixes it: move to PostgreSQL %d.", newestMajor)
	case major > newestMajor:
		f.Check, f.Says = "release-new", fmt.Sprintf("%s is newer than what tenantgate was made for: what its grammar and functions can do beyond PostgreSQL %d was not looked at", f.Object, newestMajor)
		f.Instead = fmt.Sprintf("No SQL fixes it: use PostgreSQL %d, or a newer tenantgate.", newestMajor)
	default:
		open, mended := openHoles(major, minor)
		if len(open) == 0 {
			return nil
		}
		f.Check, f.Says = "release-holes", fmt.Sprintf("%s has known holes (as of %s): a statement could %s", f.Object, holesAsOf, told(open))
		f.Instead = fmt.Sprintf("No SQL fixes it: install PostgreSQL %d.%d or a later minor release, and restart.", major, mended)
	}
	return []Finding{f}
}

// openHoles are those of a release, the newest first, and which minor release mends them all.
func openHoles(major, minor int) (open []hole, mended int) {
	for _, h := range holes {
		if fixed := h.fixed[major-oldestMajor]; minor < fixed {
			open, mended = append(open, h), max(mended, fixed)
		}
	}
	return open, mended
}

// told says what holes let a statement do, each such thing once, and names the newest.
func told(open []hole) string {
	var lets, names []string
	for _, h := range open {
		if !slices.Contains(lets, h.lets) {
			lets = append(lets, h.lets)
		}
		if len(names) < namedHoles {
			names = append(names, h.cve)
		}
	}
	more := ""
	if n := len(open) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(lets, ", ") + " (" + strings.Join(names, ", ") + more + ")"
}

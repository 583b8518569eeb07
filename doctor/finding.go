package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Grade says how bad a finding is. The zero value is none: it sorts before all others,
// so that one which was forgotten is seen.
type Grade int

// The grades, the worst first. The package comment says what they mean.
const (
	Breach Grade = iota + 1
	Tell
	Risk
	Note
)

var grades = map[Grade]string{Breach: "breach", Tell: "tell", Risk: "risk", Note: "note"}

// String gives the word for it.
func (s Grade) String() string { return grades[s] }

// MarshalText gives the word for it.
func (s Grade) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Grade) UnmarshalText(word []byte) error {
	if *s = grade(string(word), 0); *s == 0 {
		return fmt.Errorf("%q is no grade", word)
	}
	return nil
}

// grade is the one that a word stands for; otherwise for another word or none.
func grade(word string, otherwise Grade) Grade {
	for s, w := range grades {
		if w == word {
			return s
		}
	}
	return otherwise
}

// Finding is one fault of a database.
type Finding struct {
	Grade   Grade  `json:"grade"`
	Check   string `json:"check"`             // the check's name, such as hidden-unique; stable
	Object  string `json:"object"`            // what it is about, quoted as SQL needs it
	Says    string `json:"says"`              // one sentence: the fault and what follows from it
	SQL     string `json:"sql,omitempty"`     // mends it; whole statements, safe to run again
	Instead string `json:"instead,omitempty"` // what to do where no SQL mends it, or what to mind
	Stops   bool   `json:"stops,omitempty"`   // the service does not start while this is so, whatever --rls says

	// Table is the table of the policies by naming which a statement comes to it: while it is
	// served, a breach closes it. "" where only a statement that gets past the policy does.
	Table string `json:"table,omitempty"`

	// Lacking are the policies that open Table and do not accept the finding, of those of a
	// breach or tell that a policy can accept: it has to be accepted in each of them.
	Lacking []string `json:"notAcceptedBy,omitempty"`

	needs []uint32 // with row-level security behind all of these tables it is no fault
	by    string   // "check object" of the finding whose SQL mends this one too; "" for none
	stage int      // where in the script SQL belongs
	table string   // the scoped table whose wall does not stand then; "" with wall: all of them
	wall  bool     // with such a finding the wall does not stand
	alone bool     // beside such a finding no other counts
}

// Report is what an examination found.
type Report struct {
	Database string    // its name
	Role     string    // the statement role
	Policies []string  // the names of those that it was held against
	Findings []Finding // the most severe first
	Walled   []string  // the scoped tables whose rows the wall keeps apart
	Open     []string  // the scoped tables for which it does not stand
	Unseen   []string  // what could not be looked at, and why
}

// Stands tells whether the wall stands for every scoped table.
func (r *Report) Stands() bool { return len(r.Open) == 0 && len(r.Walled) > 0 }

// Sound tells whether there is no breach, tell or risk, and nothing with which the service does not start.
func (r *Report) Sound() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Grade != Note || f.Stops })
}

// Stopping are the findings with which the service does not start, whatever --rls says.
func (r *Report) Stopping() (stopping []Finding) {
	for _, f := range r.Findings {
		if f.Stops {
			stopping = append(stopping, f)
		}
	}
	return stopping
}

// onlyAlone keeps nothing but the findings beside which no other counts, if there are any:
// SQL that makes a statement role of an owner or a superuser would open the wall to the
// one that statements really run as. What else there is was not judged, so no table is.
func (r *Report) onlyAlone() {
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.alone }) {
		return
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !f.alone })
	for i := range r.Findings {
		r.Findings[i].table = ""
	}
}

// once leaves of what is found of an object for several tables the breaches alone, or one.
func (r *Report) once() {
	type found struct{ check, object string }
	seen := map[found]bool{}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Grade, b.Grade) })
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		key := found{f.Check, f.Object}
		again := seen[key]
		seen[key] = true
		return again && f.Grade != Breach
	})
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Grade, b.Grade), rank(a)-rank(b), strings.Compare(a.Check, b.Check), strings.Compare(a.Object, b.Object))
	})
}

// rank puts what opens the wall before the rest of its grade.
func rank(f Finding) int {
	if f.wall {
		return 0
	}
	return 1
}

// judge says for which of the scoped tables the wall stands.
func (r *Report) judge(scoped []string) {
	open := map[string]bool{}
	for _, f := range r.Findings {
		for _, table := range scoped {
			if f.wall && (f.table == "" || f.table == table) {
				open[table] = true
			}
		}
	}
	for _, table := range scoped {
		if open[table] {
			r.Open = append(r.Open, table)
		} else {
			r.Walled = append(r.Walled, table)
		}
	}
}

// spare drops what is no fault where row-level security stands.
func (r *Report) spare(n *named) {
	var walled []uint32
	for _, t := range n.Tables {
		if slices.Contains(r.Walled, t.ident) {
			walled = append(walled, t.oid)
		}
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return bound(f.needs, walled) })
}

// bound tells whether row-level security stands behind all tables that a finding needs it of.
func bound(needs, walled []uint32) bool {
	return len(needs) > 0 && !slices.ContainsFunc(needs, func(oid uint32) bool { return !slices.Contains(walled, oid) })
}

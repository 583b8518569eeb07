package upstream

import (
	"hash/maphash"
	"slices"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What a backend may keep of statements, in bytes as policy.Approved estimates them. Plans go
// when their statement is closed. The types of rows stay until the backend's end, and so does much
// of what it took to make a large plan (Postgres 15, 2026-11-23: 300 MB of 300 MB).
const (
	planMost    = 4 << 20   // of one plan; a larger one is made anew each time, and costs the connection
	planMean    = 128 << 10 // of all plans, for each statement that a connection may keep
	recordsMost = 4 << 20   // of types of rows; the connection is closed when its transaction ends
	recordsEnd  = 64 << 20  // of them in one transaction
	recordsMany = 64 << 10  // of one statement
)

// The reasons of Recorder.ConnectionReplaced.
const (
	replacedZones    = "time_zones"
	replacedRecords  = "record_types"
	replacedPlan     = "large_plan"
	replacedSettings = "settings"
)

// ReplaceReasons gives the reasons of Recorder.ConnectionReplaced.
func ReplaceReasons() []string {
	return []string{replacedZones, replacedRecords, replacedPlan, replacedSettings}
}

// growth is what a backend may keep of the statements that it has run, until its end.
type growth struct {
	records int // bytes of types of rows
	plan    int // bytes of the largest plan
}

// add counts a statement that the backend parses.
func (g *growth) add(plan, records int) {
	g.plan = max(g.plan, plan)
	g.records += records
}

// worn tells why the connection is to be closed when its transaction ends; "" for no reason, or where it was given up.
// Behind a pooler the backend is not the connection's.
func (s *session) worn() string {
	switch {
	case s.pooled(), s.abandoned, s.wire.state != proxy.Idle:
		return ""
	case s.zoned > zonesTime:
		return replacedZones
	case s.growth.records > recordsMost:
		return replacedRecords
	case s.growth.plan > planMost:
		return replacedPlan
	case s.strays():
		return replacedSettings
	}
	return ""
}

// replacesConnection tells whether a statement costs its connection, at once or together with a few dozen others like it. Such a
// one is kept off the connections in use: to lose one that has others' statements prepared costs those the time to
// prepare them anew, in a backend that knows nothing of the tables yet.
func replacesConnection(plan, records int) bool { return plan > planMost || records > recordsMany }

func (e *exchange) replacesConnection() bool {
	if e.json != nil {
		return replacesConnection(e.json.st.approved.PlanBytes(), e.json.st.approved.RecordBytes())
	}
	return slices.ContainsFunc(e.request.Steps, func(s proxy.Step) bool {
		a := approvedOf(&s)
		return a != nil && replacesConnection(a.PlanBytes(), a.RecordBytes())
	})
}

// recordTypes are the types of rows that the texts of one transaction make, whether or not the backend has them already: a
// refusal for them must not tell what others have made on the same connection.
type recordTypes struct {
	bytes int
	texts map[uint64]struct{} // hashes of the texts that were counted, at most recordTexts
}

// recordTexts is how many texts of a transaction are counted once, however often they come. Those beyond count each time.
const recordTexts = 1000

// countRecordTypes counts the types of rows that a step makes, and refuses it where the transaction has made too many.
func (e *exchange) countRecordTypes(a *policy.Approved) error {
	if a == nil || a.RecordBytes() == 0 {
		return nil
	}
	made := &e.link.records
	if made.bytes >= recordsEnd {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "the statements of this transaction have made too many types of rows",
			Hint: "Commit, and go on in another transaction; or select columns in place of rows."}
	}
	text := maphash.String(e.link.pool.seed, a.Key())
	if _, again := made.texts[text]; again {
		return nil
	}
	made.bytes += a.RecordBytes()
	if len(made.texts) < recordTexts {
		if made.texts == nil {
			made.texts = map[uint64]struct{}{}
		}
		made.texts[text] = struct{}{}
	}
	return nil
}

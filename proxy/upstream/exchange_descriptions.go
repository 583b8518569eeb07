package upstream

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenantgate/tenantgate/policy"
)

// maxDescribed bounds what is remembered of descriptions, in bytes; beyond it all are
// forgotten and asked for again.
const maxDescribed = 8 << 20

// descriptions remember what Postgres said of the statements' texts, so that a connection on
// which a text is not prepared yet needs no round trip to ask. It prepares the text with the
// types that its parameters are known to have: where they don't fit any more, Postgres says so
// before it runs anything. Those of the texts that name a table are forgotten when it has changed, and so
// is what the connections have prepared of these: Postgres would go on to read a parameter as of the
// type that its column had.
type descriptions struct {
	epoch atomic.Uint64 // counts the changes of the tables and of what names mean; written under mu

	mu      sync.RWMutex
	known   map[string]described
	size    int
	tables  []catalogTable
	names   namesRead
	changed map[policy.TableName]uint64 // the epoch that began when a table changed last
	renamed uint64                      // and the one when names came to mean something else
}

// namesRead is what decides which functions and operators a text means.
type namesRead struct {
	path      string
	namesakes []policy.Namesake
}

func newDescriptions() *descriptions {
	return &descriptions{known: map[string]described{}, changed: map[policy.TableName]uint64{}}
}

func (d *descriptions) get(sql string) (described, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	found, ok := d.known[sql]
	return found, ok
}

// put keeps what was said in an epoch, if it holds still.
func (d *descriptions) put(sql string, said described, epoch uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.known[sql]; known || d.outdated(said, epoch) {
		return
	}
	if d.size += said.size(sql); d.size > maxDescribed {
		d.forget()
		d.size = said.size(sql)
	}
	d.known[sql] = said
}

func (d *descriptions) drop(sql string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if said, known := d.known[sql]; known {
		delete(d.known, sql)
		d.size -= said.size(sql)
	}
}

// see forgets what was said of texts that name a table which is not as before, and all when bare names may mean
// something else.
func (d *descriptions) see(tables []catalogTable, names namesRead) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed := policy.ChangedTables(d.tables, tables, func(t catalogTable) policy.TableName { return policy.TableName{Schema: t.Schema, Name: t.Name} })
	renamed := !reflect.DeepEqual(d.names, names)
	if len(changed) == 0 && !renamed {
		return
	}
	d.tables, d.names = tables, names
	before, epoch := d.epoch.Load(), d.epoch.Add(1)
	if renamed {
		d.renamed = epoch
	}
	for _, t := range changed {
		d.changed[t] = epoch
	}
	for sql, said := range d.known {
		if d.outdated(said, before) {
			delete(d.known, sql)
			d.size -= said.size(sql)
		}
	}
}

// outdated tells whether a table that the text names, or what names mean, has changed after an epoch. Whoever calls holds mu.
func (d *descriptions) outdated(said described, epoch uint64) bool {
	if d.epoch.Load() == epoch {
		return false
	}
	return said.tables == nil || d.renamed > epoch || slices.ContainsFunc(said.tables, func(t policy.TableName) bool { return d.changed[t] > epoch })
}

func (d *descriptions) forget() {
	clear(d.known)
	d.size = 0
}

// size is about how many bytes a description and its text keep in memory.
func (d described) size(sql string) int {
	n := 160 + len(sql) + 4*cap(d.Params) + 24*cap(d.Columns) + cap(d.Row)
	for _, c := range d.Columns {
		n += 16 + len(c.Name)
	}
	return n
}

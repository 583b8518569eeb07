package proxy

import (
	"errors"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// openTable is a scoped table behind which row-level security does not stand, and why.
type openTable struct {
	name, lacks string
	dark        bool // it shows no row to anybody: what is read there is not true
}

// walls tells behind how many scoped tables of the policies row-level security stands, and
// which are open. A table that the schema lacks is neither: no policy that names it fits.
func (p *Policies) walls(schema policy.Schema) (standing int, open []openTable) {
	var seen []policy.TableName
	for _, f := range p.config.Files {
		for _, section := range f.Tables {
			t := schema.Table(section.TableName)
			if !section.Scoped || t == nil || slices.Contains(seen, section.TableName) {
				continue
			}
			seen = append(seen, section.TableName)
			if t.Walled {
				standing++
			} else {
				open = append(open, openTable{t.Schema + "." + t.Name, t.Lacks, t.Dark})
			}
		}
	}
	return standing, open
}

// What /readyz tells where row-level security keeps statements from being decided. The log
// says which tables lack what.
var (
	errOpen = errors.New("row-level security is required (--rls) and does not protect every scoped table; see the log")
	errDark = errors.New("row-level security hides every row of a scoped table; see the log")
)

// Ready tells why no statement is decided: row-level security is required and some scoped
// table lacks it, or one answers as if it were empty.
func (p *Policies) Ready() error { return p.current.Load().unwalled }

func (p *Policies) unwalled(open []openTable) error {
	switch {
	case slices.ContainsFunc(open, func(t openTable) bool { return t.dark }):
		return errDark
	case p.config.RLSRequired && len(open) > 0:
		return errOpen
	}
	return nil
}

// logWalls logs what row-level security lacks, one line for each reason, when that has
// changed. Where nobody asked (--rls off) there is nothing to tell.
func (p *Policies) logWalls(old, next *snapshot) {
	if old != nil && slices.Equal(old.open, next.open) {
		return
	}
	tables := map[string][]string{}
	var reasons []string
	for _, t := range next.open {
		if t.lacks == "" {
			return
		}
		if tables[t.lacks] == nil {
			reasons = append(reasons, t.lacks)
		}
		tables[t.lacks] = append(tables[t.lacks], t.name)
	}
	for _, lacks := range reasons {
		names := strings.Join(tables[lacks], ", ")
		if next.unwalled != nil {
			p.config.Log.Error("nothing is served, because row-level security is not as it must be; tenantgate doctor prints how to fix it", "reason", next.unwalled, "tables", names, "lacks", lacks)
		} else {
			p.config.Log.Warn("row-level security does not protect every scoped table; tenantgate doctor prints how to fix it", "tables", names, "lacks", lacks)
		}
	}
	if len(reasons) == 0 && old != nil {
		p.config.Log.Info("row-level security protects every scoped table again")
	}
}

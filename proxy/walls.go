package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// openTable is a scoped table behind which row-level security does not stand, and why.
type openTable struct{ name, lacks string }

// walls tells behind how many scoped tables of the policies row-level security stands, and
// which are open. A table that the schema lacks is neither: no policy that names it fits.
func (p *Policies) walls(schema policy.Schema) (standing int, open []openTable) {
	var seen []policy.TableName
	for _, f := range p.config.Files {
		for _, section := range f.Tables {
			i := slices.IndexFunc(schema.Tables, func(t policy.Table) bool { return t.Schema == section.Schema && t.Name == section.Name })
			if !section.Scoped || i < 0 || slices.Contains(seen, section.TableName) {
				continue
			}
			seen = append(seen, section.TableName)
			if t := schema.Tables[i]; t.Walled {
				standing++
			} else {
				open = append(open, openTable{t.Schema + "." + t.Name, t.Lacks})
			}
		}
	}
	return standing, open
}

// errOpen is what /readyz tells where row-level security is required and does not stand.
var errOpen = errors.New("row-level security is required (--rls) and does not stand; the log says which tables lack what")

// Ready tells why no statement is decided, where row-level security is required and some
// scoped table lacks it.
func (p *Policies) Ready() error {
	if s := p.current.Load(); p.config.RLSRequired && len(s.open) > 0 {
		return fmt.Errorf("%w: %d", errOpen, len(s.open))
	}
	return nil
}

// breached refuses every statement while Ready has something to tell.
func (p *Policies) breached(s *snapshot) error {
	if !p.config.RLSRequired || len(s.open) == 0 {
		return nil
	}
	return unserved("the database does not keep servers apart as it must here; an operator must mend it", errOpen)
}

// tellWalls logs what row-level security lacks, one line for each reason, when that has
// changed. Where nobody asked (--rls off) there is nothing to tell.
func (p *Policies) tellWalls(old, next *snapshot) {
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
		if p.config.RLSRequired {
			p.config.Log.Error("row-level security is required and does not stand, so nothing is served; tenantgate doctor prints what mends it", "tables", names, "lacks", lacks)
		} else {
			p.config.Log.Warn("row-level security does not stand behind the policy; tenantgate doctor prints what mends it", "tables", names, "lacks", lacks)
		}
	}
	if len(reasons) == 0 && old != nil {
		p.config.Log.Info("row-level security stands behind every scoped table again")
	}
}

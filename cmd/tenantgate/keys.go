package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/control"
)

// keyCommand manages the keys that server ids are signed with for row-level security. None
// of it ever shows a secret.
type keyCommand struct {
	List   keyList   `cmd:"" help:"List the signing keys: which one the services sign with, and which ones the database accepts."`
	Rotate keyRotate `cmd:"" help:"Create a new signing key. Within a second every service signs with it; the previous keys stay valid until they are retired."`
	Retire keyRetire `cmd:"" help:"Delete all signing keys but the newest: a service that still signs with another one sees no rows, and refuses statements once it notices."`
}

// keyFlags say where the keys are: in the control store and where statements run.
type keyFlags struct {
	storeFlags
	OwnerDatabaseURL string `name:"owner-database-url" secret:"" placeholder:"URL" help:"The database that statements run in, as the role that owns the schema tenantgate_wall, which holds the keys. By default the control store's URL, for the case that one database holds both. (secret)"`
}

type (
	keyList   struct{ keyFlags }
	keyRotate struct{ keyFlags }
	keyRetire struct{ keyFlags }
)

type keyJSON struct {
	ID       int32   `json:"id"`
	MadeAt   *string `json:"madeAt"`
	Signs    bool    `json:"signs"`    // services sign with it
	Verifies bool    `json:"verifies"` // the statements' database accepts it
}

func (f *keyFlags) keys() (control.WallKeys, error) {
	controlURL, err := f.url()
	return control.WallKeys{ControlURL: controlURL, OwnerURL: cmp.Or(f.OwnerDatabaseURL, controlURL)}, err
}

// Run lists the keys.
func (l *keyList) Run(ctx context.Context, c *console) error {
	keys, err := l.keys()
	if err != nil {
		return err
	}
	all, err := keys.List(ctx)
	if err != nil {
		return err
	}
	list := []keyJSON{}
	out := table{columns: []string{"ID", "MADE", "STATE"}}
	for _, k := range all {
		j := keyJSON{ID: k.ID, MadeAt: stamp(k.Made), Signs: k.Signs, Verifies: k.Verifies}
		list = append(list, j)
		out.rows = append(out.rows, []any{j.ID, orDash(j.MadeAt), j.state()})
	}
	return l.print(c, list, out)
}

func (j keyJSON) state() string {
	switch {
	case j.Signs && j.Verifies:
		return "signs"
	case j.Verifies:
		return "valid"
	}
	return "unknown to the statements' database: run tenantgate migrate"
}

// Run makes a new key.
func (r *keyRotate) Run(ctx context.Context, c *console) error {
	keys, err := r.keys()
	if err != nil {
		return err
	}
	id, err := keys.Rotate(ctx)
	if err != nil {
		return err
	}
	return r.print(c, map[string]any{"id": id}, table{columns: []string{fmt.Sprintf("key %d signs from now on, in %s; end the former ones with: tenantgate key retire", id, whereAndWho(keys.OwnerURL))}})
}

// Run ends the former keys.
func (r *keyRetire) Run(ctx context.Context, c *console) error {
	keys, err := r.keys()
	if err != nil {
		return err
	}
	retired, err := keys.Retire(ctx)
	if err != nil {
		return err
	}
	said := "there was no key but the newest"
	if len(retired) > 0 {
		ids := make([]string, len(retired))
		for i, id := range retired {
			ids[i] = strconv.Itoa(int(id))
		}
		said = "retired: " + strings.Join(ids, ", ")
	}
	said += ", in " + whereAndWho(keys.OwnerURL)
	return r.print(c, map[string]any{"retired": append([]int32{}, retired...)}, table{columns: []string{said}})
}

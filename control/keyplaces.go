package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/wall"
)

// keyPlaces are the two places while somebody works on them.
type keyPlaces struct {
	control pgx.Tx
	owner   *pgx.Conn
	secrets map[int32][]byte // of the control store
	made    map[int32]time.Time
	pads    map[int32]pads // that the statements' database verifies with
	here    place          // the statements' database; without an id where no wall was made
}

// read takes the lock and reads both places.
func (p *keyPlaces) read(ctx context.Context) error {
	if _, err := p.control.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, keysLock); err != nil {
		return err
	}
	rows, err := p.control.Query(ctx, `SELECT id, secret, created_at FROM tenantgate.wall_keys`)
	if err != nil {
		return err
	}
	var id int32
	var secret []byte
	var made time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &secret, &made}, func() error {
		p.secrets[id], p.made[id] = slices.Clone(secret), made
		return nil
	})
	if err != nil {
		return missingWall(err)
	}
	err = p.readOwner(ctx)
	if isMissing(err) && len(p.pads) == 0 {
		return p.owner.QueryRow(ctx, `SELECT current_database()`).Scan(&p.here.name)
	}
	return missingWall(err)
}

// readOwner reads the statements' database.
func (p *keyPlaces) readOwner(ctx context.Context) error {
	rows, err := p.owner.Query(ctx, `SELECT id, "inner", "outer", made_at FROM tenantgate_wall.keys`)
	if err != nil {
		return err
	}
	var id int32
	var in, out []byte
	var made time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &in, &out, &made}, func() error {
		p.pads[id], p.made[id] = pads{string(in), string(out)}, made
		return nil
	})
	if err != nil {
		return err
	}
	return p.owner.QueryRow(ctx, `SELECT id::text, current_database() FROM tenantgate_wall.database`).Scan(&p.here.id, &p.here.name)
}

// isMissing tells the error of a table or schema that is not there.
func isMissing(err error) bool { return slices.Contains([]string{"42P01", "3F000"}, sqlState(err)) }

// missingWall says what to do where there are no tables of keys.
func missingWall(err error) error {
	if isMissing(err) {
		return fmt.Errorf("the tables of keys are not there; run tenantgate migrate: %w", err)
	}
	return err
}

// ids are those of either place, in order.
func (p *keyPlaces) ids() []int32 {
	var ids []int32
	for id := range p.made {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// newest is the key that services sign with; 0 for none.
func (p *keyPlaces) newest() (id int32) {
	for known := range p.secrets {
		id = max(id, known)
	}
	return id
}

// add makes a key with an id above all others.
func (p *keyPlaces) add(ctx context.Context) error {
	key := wall.Key{ID: 1, Secret: make([]byte, wall.Size)}
	if ids := p.ids(); len(ids) > 0 {
		key.ID = ids[len(ids)-1] + 1
	}
	_, _ = rand.Read(key.Secret) // it never fails
	p.secrets[key.ID] = key.Secret
	if err := p.admit(ctx, key.ID); err != nil {
		return err
	}
	_, err := p.control.Exec(ctx, `INSERT INTO tenantgate.wall_keys (id, secret) VALUES ($1, $2)`, key.ID, key.Secret)
	return err
}

// admit has the statements' database accept a key of the control store's, if it has none of
// that id.
func (p *keyPlaces) admit(ctx context.Context, id int32) error {
	in, out := wall.Key{ID: id, Secret: p.secrets[id]}.Pads()
	_, err := p.owner.Exec(ctx, `INSERT INTO tenantgate_wall.keys (id, "inner", "outer") VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, id, in, out)
	return err
}

// pads are what the database keeps of a key.
type pads struct{ in, out string }

// accepts tells whether the statements' database accepts what is signed with a key of the
// control store's.
func (p *keyPlaces) accepts(id int32) bool {
	in, out := wall.Key{ID: id, Secret: p.secrets[id]}.Pads()
	known, there := p.pads[id]
	return p.secrets[id] != nil && there && known == pads{string(in), string(out)}
}

// taken gives a key of the control store's whose id is another key's in the statements'
// database; 0 for none.
func (p *keyPlaces) taken() int32 {
	for id := range p.secrets {
		if _, there := p.pads[id]; there && !p.accepts(id) {
			return id
		}
	}
	return 0
}

// orMoved is what else to do about another database.
const orMoved = "or, if statements run in this one from now on, run tenantgate migrate --moved"

// belongs gives an error where the statements' database is not the one that the control
// store noted. fresh admits one though none is noted, unless the store has keys of another.
func (p *keyPlaces) belongs(ctx context.Context, fresh bool) error {
	here := p.here
	var there place
	var since string
	err := p.control.QueryRow(ctx, `SELECT id::text, name, to_char(noted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC') FROM tenantgate.wall_database`).
		Scan(&there.id, &there.name, &since)
	none := errors.Is(err, pgx.ErrNoRows)
	switch {
	case err != nil && !none:
		return missingWall(err)
	case none && !fresh:
		return errors.New("the control store has not recorded yet which database statements run in; run tenantgate migrate first")
	case none && len(p.secrets) > 0 && !p.shares():
		return fmt.Errorf("the database %s knows none of the control store's keys: give the URL of the one that statements run in with --owner-database-url, "+orMoved, here.name)
	case fresh && p.taken() > 0:
		return fmt.Errorf("the database %s knows another key %d, so its services are another control store's: give the URL of the one that statements run in "+
			"with --owner-database-url, "+orMoved, here.name, p.taken())
	case none, here == there, fresh && here.id == there.id:
		return nil
	case here.id == there.id:
		return fmt.Errorf("this database, %s, has the id of %s, as a copy has: give that one's URL with --owner-database-url, "+
			"or, if it was renamed, run tenantgate migrate, which notes the new name", here.name, there.name)
	}
	return fmt.Errorf("this database, %s, is not the one that statements run in, which is %s, noted on %s: "+
		"give that one's URL with --owner-database-url, "+orMoved, here.name, there.name, since)
}

// shares tells whether the two places have a key in common.
func (p *keyPlaces) shares() bool {
	return slices.ContainsFunc(p.ids(), p.accepts)
}

// note has the control store remember the statements' database.
func (p *keyPlaces) note(ctx context.Context) error {
	_, err := p.control.Exec(ctx, `INSERT INTO tenantgate.wall_database (id, name) VALUES ($1::uuid, $2)
		ON CONFLICT (one) DO UPDATE SET id = excluded.id, name = excluded.name, noted_at = tenantgate.now_ms()
		WHERE (wall_database.id, wall_database.name) <> (excluded.id, excluded.name)`, p.here.id, p.here.name)
	return missingWall(err)
}

// place is a database that statements run in: what it calls itself, and its present name.
type place struct{ id, name string }

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

// WallKeys are the keys of the wall in both places: the secrets that services sign with, in
// the control store, and what verifies signatures, in the database that statements run in.
// Both must be migrated. Nothing here gives a secret away.
type WallKeys struct {
	ControlURL string // of the control store's owner
	OwnerURL   string // of the owner of the schema tenantgate_wall, where statements run
}

// WallKey tells what is known of one key.
type WallKey struct {
	ID       int32
	Made     time.Time
	Signs    bool // it is the one that services sign with
	Verifies bool // the statements' database accepts its signatures
}

// retirePause is how long Retire lets the services follow the control store: a second is
// what every one of them takes at most.
const retirePause = 2 * time.Second

// keysLock has those who change keys wait for each other; it is held in the control store.
const keysLock = 0x746e_746b // "tntk"

// Ensure makes a key if there is none, and puts into the statements' database what it lacks
// of those in the control store.
func (k WallKeys) Ensure(ctx context.Context) error {
	return k.change(ctx, "making a key of the wall", func(p *keyPlaces) error {
		if len(p.secrets) == 0 {
			return p.add(ctx)
		}
		for id := range p.secrets {
			if err := p.admit(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rotate makes a new key, with which every service signs within a second. The former ones
// stay valid until Retire. It gives the new key's id.
func (k WallKeys) Rotate(ctx context.Context) (id int32, err error) {
	err = k.change(ctx, "rotating the key of the wall", func(p *keyPlaces) error {
		err := p.add(ctx)
		id = p.newest()
		return err
	})
	return id, err
}

// Retire ends all keys but the newest, in the control store first. It gives their ids.
func (k WallKeys) Retire(ctx context.Context) (retired []int32, err error) {
	err = k.change(ctx, "retiring the keys of the wall", func(p *keyPlaces) error {
		newest := p.newest()
		if !slices.Contains(p.verifying, newest) {
			return errors.New("the statements' database does not know the key that services sign with; run tenantgate migrate first")
		}
		for _, id := range p.ids() {
			if id != newest {
				retired = append(retired, id)
			}
		}
		_, err := p.control.Exec(ctx, `DELETE FROM tenantgate.wall_keys WHERE id <> $1`, newest)
		return err
	})
	if err != nil || len(retired) == 0 {
		return nil, err
	}
	sleep(ctx, retirePause)
	err = k.change(ctx, "retiring the keys of the wall", func(p *keyPlaces) error {
		_, err := p.owner.Exec(ctx, `DELETE FROM tenantgate_wall.keys WHERE id = ANY ($1)`, retired)
		return err
	})
	return retired, err
}

// List gives all keys by id.
func (k WallKeys) List(ctx context.Context) (list []WallKey, err error) {
	err = k.change(ctx, "listing the keys of the wall", func(p *keyPlaces) error {
		for _, id := range p.ids() {
			_, known := p.secrets[id]
			list = append(list, WallKey{ID: id, Made: p.made[id], Signs: known && id == p.newest(), Verifies: slices.Contains(p.verifying, id)})
		}
		return nil
	})
	return list, err
}

// keyPlaces are the two places while somebody works on them.
type keyPlaces struct {
	control   pgx.Tx
	owner     *pgx.Conn
	secrets   map[int32][]byte // of the control store
	made      map[int32]time.Time
	verifying []int32 // the ids that the statements' database knows
}

// change reads the keys of both places and lets operate work on them. What it does in the
// control store takes effect after what it does in the statements' database: no service
// ever signs with a key that the database does not know.
func (k WallKeys) change(ctx context.Context, doing string, operate func(*keyPlaces) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	control, err := connectTo(ctx, k.ControlURL)
	if err != nil {
		return fmt.Errorf("%s: connecting to the control store: %w", doing, err)
	}
	defer closeConn(control)
	owner, err := connectTo(ctx, k.OwnerURL)
	if err != nil {
		return fmt.Errorf("%s: connecting to the statements' database: %w", doing, err)
	}
	defer closeConn(owner)
	err = pgx.BeginFunc(ctx, control, func(tx pgx.Tx) error {
		p := &keyPlaces{control: tx, owner: owner, secrets: map[int32][]byte{}, made: map[int32]time.Time{}}
		if err := p.read(ctx); err != nil {
			return err
		}
		return operate(p)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func connectTo(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	config.ConnectTimeout = connectTimeout
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["application_name"] = "tenantgate keys"
	return pgx.ConnectConfig(ctx, config)
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
	if rows, err = p.owner.Query(ctx, `SELECT id, made_at FROM tenantgate_wall.keys`); err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&id, &made}, func() error {
		p.verifying = append(p.verifying, id)
		p.made[id] = made
		return nil
	})
	return missingWall(err)
}

// missingWall says what to do where there are no tables of keys.
func missingWall(err error) error {
	switch sqlState(err) {
	case "42P01", "3F000":
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

// admit has the statements' database accept a key of the control store's.
func (p *keyPlaces) admit(ctx context.Context, id int32) error {
	in, out := wall.Key{ID: id, Secret: p.secrets[id]}.Pads()
	_, err := p.owner.Exec(ctx, `INSERT INTO tenantgate_wall.keys (id, "inner", "outer") VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET "inner" = $2, "outer" = $3
		WHERE (keys."inner", keys."outer") IS DISTINCT FROM ($2::bytea, $3::bytea)`, id, in, out)
	return err
}

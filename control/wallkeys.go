package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// WallKeys are the keys of the wall in both places: the secrets that services sign with, in
// the control store, and what verifies signatures, in the database that statements run in.
// Both must be migrated, but for Fits. The control store notes which database that is, and none of these
// work on another one: services would sign with keys that theirs does not know. Nothing
// here gives a secret away.
type WallKeys struct {
	ControlURL string // of the control store's owner
	OwnerURL   string // of the owner of the schema tenantgate_wall, where statements run
	Moved      bool   // Ensure notes OwnerURL's database, whichever it was before
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

// Fits tells, before anything is made there, whether Ensure would take the statements'
// database. The control store must be migrated, the database need not be.
func (k WallKeys) Fits(ctx context.Context) error {
	return k.change(ctx, "comparing the database with the control store's keys", true, func(*keyPlaces) error { return nil })
}

// Ensure makes a key if there is none, and puts into the statements' database what it lacks
// of those in the control store.
func (k WallKeys) Ensure(ctx context.Context) error {
	return k.change(ctx, "making a key of the wall", true, func(p *keyPlaces) error {
		if p.here.id == "" {
			return errors.New("the tables of keys are not there; run tenantgate migrate")
		}
		if err := p.note(ctx); err != nil {
			return err
		}
		if len(p.secrets) == 0 || p.taken() > 0 {
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
	err = k.change(ctx, "rotating the key of the wall", false, func(p *keyPlaces) error {
		err := p.add(ctx)
		id = p.newest()
		return err
	})
	return id, err
}

// Retire ends all keys but the newest, in the control store first. It gives their ids.
func (k WallKeys) Retire(ctx context.Context) (retired []int32, err error) {
	err = k.change(ctx, "retiring the keys of the wall", false, func(p *keyPlaces) error {
		newest := p.newest()
		if !p.accepts(newest) {
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
	err = k.change(ctx, "retiring the keys of the wall", false, func(p *keyPlaces) error {
		_, err := p.owner.Exec(ctx, `DELETE FROM tenantgate_wall.keys WHERE id = ANY ($1)`, retired)
		return err
	})
	return retired, err
}

// List gives all keys by id.
func (k WallKeys) List(ctx context.Context) (list []WallKey, err error) {
	err = k.change(ctx, "listing the keys of the wall", false, func(p *keyPlaces) error {
		for _, id := range p.ids() {
			_, known := p.secrets[id]
			list = append(list, WallKey{ID: id, Made: p.made[id], Signs: known && id == p.newest(), Verifies: !known || p.accepts(id)})
		}
		return nil
	})
	return list, err
}

// change reads the keys of both places and lets operate work on them. What it does in the
// control store takes effect after what it does in the statements' database: no service
// ever signs with a key that the database does not know. fresh admits a database though the
// control store noted none.
func (k WallKeys) change(ctx context.Context, doing string, fresh bool, operate func(*keyPlaces) error) error {
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
		p := &keyPlaces{control: tx, owner: owner, secrets: map[int32][]byte{}, pads: map[int32]pads{}, made: map[int32]time.Time{}}
		if err := p.read(ctx); err != nil {
			return err
		}
		if !fresh || !k.Moved {
			if err := p.belongs(ctx, fresh); err != nil {
				return err
			}
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

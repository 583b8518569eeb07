package control

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/wall"
)

// Ensure a key is made once however many migrate, both are valid during a rotation, a
// retired one is dead, and no id comes back.
func TestKeysOfTheWall(t *testing.T) {
	url, roles, keys := walledDB(t)
	ctx := t.Context()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { wantCode(t, keys.Ensure(ctx), "") })
	}
	all.Wait()
	list := func(want string) {
		t.Helper()
		got, err := keys.List(ctx)
		wantCode(t, err, "")
		said := ""
		for _, k := range got {
			if time.Since(k.Made) > time.Minute {
				t.Errorf("made %v", k.Made)
			}
			said += fmt.Sprintf("%d:%t,%t ", k.ID, k.Signs, k.Verifies)
		}
		if said != want {
			t.Errorf("got %q, want %q", said, want)
		}
	}
	list("1:true,true ")
	first := secretOf(t, url, 1)
	if id, err := keys.Rotate(ctx); id != 2 || err != nil {
		t.Fatalf("%d, %v", id, err)
	}
	list("1:false,true 2:true,true ")
	second := secretOf(t, url, 2)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	if string(first.Secret) == string(second.Secret) || seen(t, conn, "b", first.Sign("b")) != 2 || seen(t, conn, "b", second.Sign("b")) != 2 {
		t.Error("two keys are not both valid")
	}
	if retired, err := keys.Retire(ctx); err != nil || len(retired) != 1 || retired[0] != 1 {
		t.Errorf("retired %v, %v", retired, err)
	}
	if seen(t, conn, "b", first.Sign("b")) != 0 || seen(t, conn, "b", second.Sign("b")) != 2 || seen(t, conn, "b", wall.Key{ID: 2, Secret: first.Secret}.Sign("b")) != 0 {
		t.Error("the retired key lives, or the new one does not")
	}
	list("2:true,true ")
	if retired, err := keys.Retire(ctx); err != nil || retired != nil {
		t.Errorf("retired %v, %v", retired, err)
	}
	// A database that lost the keys gets those of the store, and a key that only the
	// database knows, as when the process ended between the two writes, can be retired.
	exec(t, url, `DELETE FROM tenantgate_wall.keys; INSERT INTO tenantgate_wall.keys (id, "inner", "outer") VALUES (7, decode(repeat('00', 64), 'hex'), decode(repeat('00', 64), 'hex'))`)
	list("2:true,false 7:false,true ")
	if _, err := keys.Retire(ctx); err == nil {
		t.Error("the only key that the database knows was retired")
	}
	wantCode(t, keys.Ensure(ctx), "")
	if seen(t, conn, "b", second.Sign("b")) != 2 {
		t.Error("the key did not come back")
	}
	if retired, err := keys.Retire(ctx); err != nil || len(retired) != 1 || retired[0] != 7 {
		t.Errorf("retired %v, %v", retired, err)
	}
	exec(t, url, "TRUNCATE tenantgate.wall_keys")
	wantCode(t, keys.Ensure(ctx), "") // the store was made anew: its key must not be taken for another
	list("2:false,true 3:true,true ")
}

// Ensure the store never has a key that the statements' database does not know.
func TestKeysReachTheDatabaseFirst(t *testing.T) {
	url, _, keys := walledDB(t)
	exec(t, url, "ALTER TABLE tenantgate_wall.keys ADD CHECK (id < 2)")
	if _, err := keys.Rotate(t.Context()); sqlState(err) != "23514" {
		t.Errorf("%v", err)
	}
	want(t, url, "1", "SELECT string_agg(id::text, ',') FROM tenantgate.wall_keys")
	// The other way round the new key is there, unused, when the store refuses it.
	exec(t, url, "ALTER TABLE tenantgate_wall.keys DROP CONSTRAINT keys_id_check; ALTER TABLE tenantgate.wall_keys ADD CHECK (id < 2)")
	if _, err := keys.Rotate(t.Context()); sqlState(err) != "23514" {
		t.Errorf("%v", err)
	}
	want(t, url, "1,2", "SELECT string_agg(id::text, ',' ORDER BY id) FROM tenantgate_wall.keys")
}

// Ensure keys are never made or ended in a database that statements do not run in, until
// they moved there, and that a copy, which has the database's id, is not taken for it.
func TestKeysOfAnotherDatabase(t *testing.T) {
	url, _, keys := walledDB(t)
	second, roles := bundledDB(t)
	ctx := t.Context()
	bare := controlDB(t) // no wall was made here
	elsewhere := WallKeys{ControlURL: url, OwnerURL: bare}
	_, err := elsewhere.List(ctx)
	for _, err := range []error{elsewhere.Fits(ctx), elsewhere.Ensure(ctx), err} {
		if err == nil || !strings.Contains(err.Error(), "is not the one that statements run in") || !strings.Contains(err.Error(), "--owner-database-url") {
			t.Errorf("%v", err)
		}
	}
	elsewhere.Moved = true
	wantCode(t, elsewhere.Fits(ctx), "")
	if err := elsewhere.Ensure(ctx); err == nil || !strings.Contains(err.Error(), "run tenantgate migrate") {
		t.Errorf("%v", err)
	}
	wantCode(t, WallKeys{ControlURL: controlDB(t), OwnerURL: bare}.Fits(ctx), "")
	before := query[string](t, second, "SELECT id::text FROM tenantgate_wall.database")
	if _, err := MigrateWall(ctx, second, roles); err != nil {
		t.Fatal(err)
	}
	want(t, second, before, "SELECT id::text FROM tenantgate_wall.database")
	mistaken := WallKeys{ControlURL: url, OwnerURL: second}
	refused := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "--owner-database-url") || !strings.Contains(err.Error(), "migrate --moved") {
			t.Errorf("%v", err)
		}
	}
	refused(mistaken.Ensure(ctx))
	_, err = mistaken.Rotate(ctx)
	refused(err)
	_, err = mistaken.Retire(ctx)
	refused(err)
	_, err = mistaken.List(ctx)
	refused(err)
	want(t, url, "1", "SELECT string_agg(id::text, ',') FROM tenantgate.wall_keys")
	want(t, second, "0", "SELECT count(*)::text FROM tenantgate_wall.keys")
	mistaken.Moved = true
	wantCode(t, mistaken.Ensure(ctx), "")
	want(t, second, "1", "SELECT string_agg(id::text, ',') FROM tenantgate_wall.keys")
	_, err = keys.Rotate(ctx)
	refused(err)
	exec(t, url, "UPDATE tenantgate_wall.database SET id = '"+before+"'") // as a restored dump has it
	wantCode(t, keys.Ensure(ctx), "")
	_, err = keys.Rotate(ctx)
	wantCode(t, err, "")
	// A copy of the database has its id, and another name.
	exec(t, url, "UPDATE tenantgate.wall_database SET name = 'original'")
	if _, err = keys.Rotate(ctx); err == nil || !strings.Contains(err.Error(), "as a copy has") {
		t.Errorf("%v", err)
	}
	wantCode(t, keys.Ensure(ctx), "")
	_, err = keys.Rotate(ctx)
	wantCode(t, err, "")
	// A store that notes none, as one from before it did, takes a database that knows its keys.
	exec(t, url, "TRUNCATE tenantgate.wall_database")
	if _, err = keys.Rotate(ctx); err == nil || !strings.Contains(err.Error(), "run tenantgate migrate first") {
		t.Errorf("%v", err)
	}
	exec(t, second, "TRUNCATE tenantgate_wall.keys")
	mistaken.Moved = false
	refused(mistaken.Ensure(ctx))
	wantCode(t, keys.Ensure(ctx), "")
	_, err = keys.Rotate(ctx)
	wantCode(t, err, "")
}

// Ensure a key of another control store's is never put in the place of one's own, nor its
// own key in the place of that.
func TestKeysOfTwoStores(t *testing.T) {
	url, _, _ := walledDB(t)
	theirs, _, others := walledDB(t) // with a key 1 too
	ctx := t.Context()
	pads := query[string](t, theirs, `SELECT string_agg(encode("inner", 'hex'), ',') FROM tenantgate_wall.keys`)
	exec(t, url, "TRUNCATE tenantgate.wall_database")
	for range 2 { // noted none, and noted, as a copy is
		if err := (WallKeys{ControlURL: url, OwnerURL: theirs}).Ensure(ctx); err == nil || !strings.Contains(err.Error(), "knows another key 1") && !strings.Contains(err.Error(), "knows none") {
			t.Errorf("%v", err)
		}
		want(t, theirs, pads, `SELECT string_agg(encode("inner", 'hex'), ',') FROM tenantgate_wall.keys`)
		id := query[string](t, theirs, "SELECT id::text FROM tenantgate_wall.database")
		exec(t, url, "INSERT INTO tenantgate.wall_database (id, name) SELECT '"+id+"', current_database() ON CONFLICT DO NOTHING")
	}
	wantCode(t, WallKeys{ControlURL: url, OwnerURL: theirs, Moved: true}.Ensure(ctx), "")
	want(t, url, "1,2", "SELECT string_agg(id::text, ',' ORDER BY id) FROM tenantgate.wall_keys")
	want(t, theirs, "1,2", "SELECT string_agg(id::text, ',' ORDER BY id) FROM tenantgate_wall.keys")
	want(t, theirs, pads, `SELECT encode("inner", 'hex') FROM tenantgate_wall.keys WHERE id = 1`)
	list, err := others.List(ctx)
	wantCode(t, err, "")
	if len(list) != 2 || !list[0].Signs || !list[0].Verifies {
		t.Errorf("%+v", list)
	}
	list, err = WallKeys{ControlURL: url, OwnerURL: theirs}.List(ctx)
	wantCode(t, err, "")
	if len(list) != 2 || list[0].Verifies || !list[1].Signs || !list[1].Verifies {
		t.Errorf("%+v", list)
	}
}

// Ensure a process follows the key within a second, notified or polling.
func TestKeysAreFollowed(t *testing.T) {
	url, _, keys := walledDB(t)
	polling := open(t, Config{ControlURL: url})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { polling.poll(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	for name, s := range map[string]*Store{"notified": run(t, Config{ControlURL: url}), "polling": polling} {
		key, known := s.WallKey()
		if !known {
			t.Fatalf("%s: no key after Open", name)
		}
		id, err := keys.Rotate(t.Context())
		wantCode(t, err, "")
		took := within(t, time.Second, name, func() bool { key, _ = s.WallKey(); return key.ID == id })
		t.Logf("%s: after %v", name, took)
		if string(key.Secret) != string(secretOf(t, url, id).Secret) {
			t.Errorf("%s: another secret", name)
		}
	}
	exec(t, url, "TRUNCATE tenantgate.wall_keys")
	within(t, time.Second, "no key", func() bool { _, known := polling.WallKey(); return !known })
}

// Ensure a store without keys, or one that is away, does not keep a process from working.
func TestWithoutKeysOfTheWall(t *testing.T) {
	url := controlDB(t)
	r, through := pgtest.NewRelay(t, url)
	s := run(t, Config{ControlURL: through})
	if _, known := s.WallKey(); known {
		t.Error("a key of nowhere")
	}
	keys := WallKeys{ControlURL: url, OwnerURL: url}
	if _, err := keys.Rotate(t.Context()); err == nil {
		t.Error("a key without a wall")
	}
	exec(t, url, "INSERT INTO tenantgate.wall_keys (id, secret) VALUES (1, decode(repeat('0f', 32), 'hex'))")
	within(t, time.Second, "the key", func() bool { _, known := s.WallKey(); return known })
	r.Cut(true)
	time.Sleep(confirmWindow)
	if _, known := s.WallKey(); !known {
		t.Error("the key is forgotten while the store is away")
	}
	r.Mend()
}

package control

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// ListServers gives the servers of a project by creation time, then id. limit 0 gives all
// of them; else at most limit, and next is the cursor of the following page, "" when there
// is none. NotFound when there is no such project; InvalidRequest when the cursor is none
// that was given out.
func (s *Store) ListServers(ctx context.Context, projectID string, limit int, cursor string) (page []proxy.Server, next string, err error) {
	after, err := readCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	page, err = s.listAfter(ctx, projectID, after, limit+1)
	if err != nil {
		return nil, "", readError("listing servers", err)
	}
	if len(page) == 0 {
		return page, "", s.projectExists(ctx, projectID)
	}
	if len(page) > limit {
		page = page[:limit]
		next = position{page[limit-1].CreatedAt, page[limit-1].ID}.cursor()
	}
	return page, next, nil
}

func (s *Store) listAfter(ctx context.Context, projectID string, after position, limit int) (page []proxy.Server, err error) {
	if !validID(projectID) {
		return nil, noProject()
	}
	err = s.manage(ctx, proxy.Account{Project: projectID}, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, fromServers+` FROM tenantgate.servers s JOIN tenantgate.projects p ON p.id = s.project_id
			WHERE s.project_id = $1 AND (s.created_at, s.id) > ($2, $3) ORDER BY s.created_at, s.id LIMIT $4`,
			projectID, after.created, after.id, limit)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (proxy.Server, error) { return scanServer(row) })
		return err
	})
	return page, err
}

// projectExists asks the store itself: a list must not say "none" of a project that a
// cache does not know yet.
func (s *Store) projectExists(ctx context.Context, projectID string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	_, found, err := onConn(s, readProject)(ctx, projectID)
	if err == nil && !found {
		return noProject()
	}
	return err
}

// position is a place in a list of servers. The zero value is before the first.
type position struct {
	created time.Time
	id      string
}

// cursor writes a position so that callers don't come to depend on what is in it.
func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.created.UnixMilli(), 36) + " " + p.id))
}

// readCursor reads what cursor wrote and nothing else: a position has one cursor.
func readCursor(text string) (position, error) {
	if text == "" {
		return position{created: time.UnixMilli(0).UTC()}, nil
	}
	refused := proxy.Refuse(proxy.InvalidRequest, "cursor: this is not a cursor of this list; take the one of the Link header as it is")
	if len(text) > 2*(maxID+16) {
		return position{}, refused
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	millis, id, ok := strings.Cut(string(raw), " ")
	ms, parseErr := strconv.ParseInt(millis, 36, 64)
	p := position{time.UnixMilli(ms).UTC(), id}
	if err != nil || !ok || parseErr != nil || ms < 0 || ms > maxMillis || !validID(id) || p.cursor() != text {
		return position{}, refused
	}
	return p, nil
}

// maxMillis is the last time that has a four-digit year.
const maxMillis = 253402300799999

package rest

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// maxPage is the largest page of a list.
const maxPage = 1000

// listServers answers 4.4.
func (s *Server) listServers(r *request) error {
	if err := r.manageProject(); err != nil {
		return err
	}
	if err := r.negotiate(false); err != nil {
		return err
	}
	limit, cursor, err := r.page()
	if err != nil {
		return err
	}
	ctx := r.storeContext()
	defer ctx.end()
	servers, next, err := s.cfg.Servers.ListServers(ctx, r.projectID, limit, cursor)
	if err != nil {
		return err
	}
	defer r.stage("encode", time.Now())
	if next != "" {
		r.set("Link", "<"+r.nextPage(limit, next)+`>; rel="next"`)
	}
	body := append(r.resultBuffer(proxy.Account{Project: r.projectID}), `{"servers":[`...)
	for i, server := range servers {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendServer(body, server)
	}
	body = append(body, "]}"...)
	if err := r.conn.Have(cap(body)); err != nil {
		return err
	}
	return r.send(body)
}

// page reads limit and cursor; without a limit it is 0, which asks for all.
func (r *request) page() (limit int, cursor string, err error) {
	size, after := parameter{name: "limit"}, parameter{name: "cursor"}
	if err := r.parameters(&size, &after); err != nil {
		return 0, "", err
	}
	if size.given {
		limit, err = strconv.Atoi(size.value)
		if err != nil || limit < 1 || limit > maxPage || strings.HasPrefix(size.value, "+") {
			return 0, "", invalid("query parameter limit must be a whole number from 1 to " + strconv.Itoa(maxPage))
		}
	}
	if after.given && after.value == "" {
		return 0, "", invalid("query parameter cursor must be one that a Link header gave")
	}
	return limit, after.value, nil
}

// nextPage is a reference, RFC 3986 section 4.2, to be resolved against the request's URL.
func (r *request) nextPage(limit int, cursor string) string {
	query := url.Values{"cursor": {cursor}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	// A plus sign is a plus sign here: see parameters.
	return r.path + "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}

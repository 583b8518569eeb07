package rest

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/proxy"
)

// userByEmail answers 4.1.
func (s *Server) userByEmail(r *request) error {
	ctx := r.storeContext()
	defer ctx.end()
	server, err := r.application(ctx)
	if err != nil {
		return err
	}
	if err := needActive(server); err != nil {
		return err
	}
	if err := r.negotiate(false); err != nil {
		return err
	}
	email, err := r.email()
	if err != nil {
		return err
	}
	if err := r.admit(ctx, proxy.Subject{Frontend: frontend, Server: server}); err != nil {
		return err
	}
	r.ran, r.ranOnce = true, true
	user, err := s.cfg.EndUsers.ByEmail(ctx, server.Account(), email)
	if err != nil {
		return err
	}
	defer r.stage("encode", time.Now())
	body := appendUser(r.resultBuffer(server.Account()), user)
	if err := r.conn.Have(cap(body)); err != nil { // it stays until the client has read it
		return err
	}
	return r.send(body)
}

// email gives the query parameter. A plus sign in it is a plus sign, as RFC 3986 has
// it: addresses hold no spaces, and callers forget to encode it.
func (r *request) email() (string, error) {
	email := parameter{name: "email"}
	if err := r.parameters(&email); err != nil {
		return "", err
	}
	switch {
	case email.value == "":
		return "", invalid("query parameter email is required: the user's e-mail address")
	case utf8.RuneCountInString(email.value) > 320 || strings.ContainsFunc(email.value, unicode.IsControl):
		return "", invalid("query parameter email must be an e-mail address of at most 320 characters")
	}
	return email.value, nil
}

// parameter is a query parameter that a request may have.
type parameter struct {
	name, value string
	given       bool
}

// parameters reads the query: known names only, each once at most.
func (r *request) parameters(known ...*parameter) error {
	for rest := r.rawQuery; rest != ""; {
		var pair string
		if pair, rest, _ = strings.Cut(rest, "&"); pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, nameErr := url.PathUnescape(rawName)
		value, valueErr := url.PathUnescape(rawValue)
		if nameErr != nil || valueErr != nil || !utf8.ValidString(name+value) {
			return invalid("the query holds a malformed percent-encoding")
		}
		at := slices.IndexFunc(known, func(p *parameter) bool { return p.name == name })
		switch {
		case at < 0:
			return invalid("query parameter " + quoted(name) + " is unknown here")
		case known[at].given:
			return invalid("query parameter " + quoted(name) + " is given twice")
		}
		known[at].value, known[at].given = value, true
	}
	return nil
}

func appendUser(dst []byte, user proxy.EndUser) []byte {
	dst = appendString(append(dst, `{"id":`...), user.ID)
	dst = appendString(append(dst, `,"externalUserId":`...), user.ExternalUserID)
	dst = appendString(append(dst, `,"username":`...), user.Username)
	dst = appendString(append(dst, `,"email":`...), user.Email)
	dst = appendOptional(append(dst, `,"phoneNumber":`...), user.PhoneNumber)
	dst = appendOptional(append(dst, `,"passwordHash":`...), user.PasswordHash)
	return append(dst, '}')
}

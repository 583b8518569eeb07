package control

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantgate/tenantgate/proxy"
)

const maxID = 128 // bytes

// newID gives a fresh UUID, version 7 (RFC 9562), as text: ids made later sort later.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// validID tells whether a text can be the id of a project or server: 1 to 128 printable
// ASCII characters without space or slash, so that it fits a header and one segment of a
// path, and neither "." nor "..", which clients remove from paths.
func validID(id string) bool {
	if id == "" || len(id) > maxID || id == "." || id == ".." {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' || c == '/' {
			return false
		}
	}
	return true
}

func checkID(id string) error {
	if validID(id) {
		return nil
	}
	return proxy.Refuse(proxy.InvalidRequest,
		"an id has 1 to 128 printable ASCII characters without spaces and slashes, and is not . or ..")
}

// millis is a time of the store as it is told: UTC, whole milliseconds.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// millisOrZero is millis for a time that may be absent.
func millisOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return millis(*t)
}

package smith

import (
	"context"
	"regexp"
	"strings"
)

// behind tells whether an error, of either, is of the server's own rows alone: where tenantgate
// in front of them answers what it answers in front of all. Postgres does not promise whether a
// condition that fails is asked for before one that would have spared it: the walls, which
// come first, and the plan choose that.
func (r *replay) behind(ctx context.Context, statement string, got, own answer) (bool, error) {
	if r.cfg.Alone == "" || !byValues(got, own) {
		return false, nil
	}
	if r.alone == nil {
		var err error
		if r.alone, err = open(ctx, r.cfg.Alone, nil); err != nil {
			return false, err
		}
	}
	a, err := r.alone.run(ctx, statement)
	return err == nil && a.equal(got), err
}

// byValues tells whether answers may differ for the order in which conditions are asked for: one is an error that a
// value causes, or both are, since which of several errors comes first depends on that order, too.
func byValues(got, own answer) bool {
	if got.state != "" && own.state != "" {
		return ofValues(got) && ofValues(own)
	}
	return ofValues(got) || ofValues(own)
}

// ofValues tells whether a value of some row is the cause of an error: a cardinality violation, a data exception,
// an encoding that to_ascii does not know or support, a text that is no tsquery, no format of a number, or one that says no bounds
// of a range.
func ofValues(a answer) bool {
	return strings.HasPrefix(a.state, "21") || strings.HasPrefix(a.state, "22") ||
		a.state == "42704" && strings.Contains(a.message, "is not a valid encoding ") ||
		a.state == "0A000" && strings.Contains(a.message, "to ASCII not supported") ||
		a.state == "42601" && (strings.HasPrefix(a.message, "syntax error in tsquery") || strings.HasPrefix(a.message, "invalid range bound flags") || noFormat.MatchString(a.message))
}

// noFormat is what to_char and to_number say of a format (formatting.c in Postgres); the DETAIL is behind it.
var noFormat = regexp.MustCompile(`^(cannot use .+ (together|twice)|multiple decimal points|.+ must be ahead of .+|.+ must be the last pattern used|.+ is incompatible with other formats)(;|$)`)

package proof

import (
	"errors"
	"net/url"

	"github.com/tenantgate/tenantgate/policy"
)

// Databases gives the superuser's URLs of a server's templates: D, D|s, and D|s with its rows
// in another order. Whoever writes there changes what is copied later.
func (w *World) Databases(server int) (all, alone, reordered string, err error) {
	u, err := url.Parse(w.admin)
	if err != nil {
		return "", "", "", errors.New("the superuser's URL is not one")
	}
	of := func(kind database) string {
		u.Path = "/" + w.name + "_" + kind.of(server)
		return u.String()
	}
	return of(shared), of(own), of(shuffled), nil
}

// PolicyFile gives the text of the proof's policy in a scope mode.
func PolicyFile(mode policy.ScopeMode) string { return policyFile(mode) }

// Variants gives, for each of the planner's settings that plans depend on, a SET that turns it
// and one that turns it back.
func Variants() [][2]string {
	var all [][2]string
	for _, p := range planner {
		all = append(all, [2]string{"SET " + p.name + " = " + p.values[1], "RESET " + p.name})
	}
	return all
}

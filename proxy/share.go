package proxy

// Account is whose share something is taken out of: a server's, and that of its project, whose
// developers may make as many servers as they like. The zero value is this program's own.
type Account struct{ Project, Server string }

// Account is the server's.
func (s Server) Account() Account { return Account{s.ProjectID, s.ID} }

// Account is a token's: a share of its own in the first of its projects.
func (c Caller) Account() Account {
	a := Account{Server: "token " + c.TokenID}
	if len(c.Projects) > 0 {
		a.Project = c.Projects[0]
	}
	return a
}

// Share is how much one server may hold of n that all servers share: three quarters, so that
// the others have some, and all where there are fewer than four.
func Share[N int | int64 | float64](n N) N { return n - n/4 }

// DefaultProjectShare is how much one project may hold of what all projects share, in percent.
const DefaultProjectShare = 75

// shares are how much one project, and one of its servers, may hold of n.
type shares struct{ project, server bound }

// bound is how many turns one may hold of those that it shares with others. The last ones, the
// reserve, go to who holds none.
type bound struct{ most, reserve int }

// sharesOf divides n: a project has percent of it, and a server three quarters of that. So
// something is left to the others of its project, too, unless there are fewer than four.
func sharesOf(n, percent int) shares {
	if percent <= 0 || percent > 100 {
		percent = DefaultProjectShare
	}
	ofProject := n - n*(100-percent)/100
	ofServer := Share(ofProject)
	if ofProject < n {
		ofServer = max(min(ofServer, ofProject-1), 1)
	}
	return shares{
		project: boundOf(ofProject, n),
		server:  boundOf(ofServer, ofProject),
	}
}

// boundOf keeps half of what one may not hold for those that hold none, at least one where that is anything.
func boundOf(most, all int) bound {
	left := all - most
	return bound{most, max(left/2, min(left, 1))}
}

// below is how few turns one must hold to have one more, where so many are free.
func (b bound) below(free int) int {
	switch {
	case free <= 0:
		return 0
	case free <= b.reserve:
		return 1
	}
	return b.most
}

// spares tells whether one that holds so many may have n more at once, where so many are free. One that holds none
// gets half of the reserve at most, so that another one finds some.
func (b bound) spares(held, n, free int) bool {
	switch left := free - n; {
	case left < 0:
		return false
	case left < b.reserve:
		return held == 0 && n <= max(b.reserve/2, 1)
	}
	return true
}

package proof

import (
	"math/rand/v2"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// source gives the statements of a run by their numbers.
type source struct {
	cfg       Config
	modes     []policy.ScopeMode
	generator *statement.Generator
	corpus    []statement.Statement
}

func newSource(cfg Config, server int) *source {
	s := &source{cfg: cfg, modes: cfg.Walls.modes(), generator: statement.New(Servers[server])}
	if len(cfg.Corpus) > 0 {
		s.corpus = cfg.Corpus[server]
	}
	return s
}

// shares, in percent, of what is tried.
const (
	mutatedShare = 18 // of generated statements
	writtenShare = 6  // of hand-written ones, every other of them mutated
)

func (s *source) statement(number int) statement.Statement {
	r := rand.New(rand.NewPCG(s.cfg.Seed+2, uint64(number))) //nolint:gosec // chance, not secrecy
	mode := s.modes[r.IntN(len(s.modes))]
	share := r.IntN(100)
	if share < writtenShare && len(s.corpus) > 0 {
		st := s.corpus[r.IntN(len(s.corpus))]
		st.Mode = mode
		if share%2 == 0 {
			return statement.Mutate(st, r)
		}
		return st
	}
	st := s.generator.Make(s.cfg.Seed, number, mode)
	if share < writtenShare+mutatedShare {
		return statement.Mutate(st, r)
	}
	return st
}

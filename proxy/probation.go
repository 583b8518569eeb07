package proxy

import (
	"hash/maphash"
	"sync/atomic"
)

// probation remembers which texts were asked for lately, in four bytes each, so that a plan is
// kept from the second time on. A text takes the place of another, as chance has it: whoever
// sends texts that nobody sends again takes as many places as it sends texts, and each is one of
// so many that what others send comes again before.
type probation struct {
	seed  maphash.Seed
	asked []atomic.Uint32
}

// onProbation is how many texts are remembered: at 3,000 new texts a second most of those that came
// in the last minute.
const onProbation = 1 << 18

func newProbation() *probation {
	return &probation{seed: maphash.MakeSeed(), asked: make([]atomic.Uint32, onProbation)}
}

// again tells whether the text was asked for lately; from now on it was.
func (p *probation) again(key planKey) bool {
	sum := maphash.Comparable(p.seed, key)
	mark := uint32(sum) | 1 //nolint:gosec // any 31 bits will do, and none is that of an empty place
	return p.asked[sum>>32%onProbation].Swap(mark) == mark
}

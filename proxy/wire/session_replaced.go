package wire

// maxReplaced is what the unnamed statements of one client may take that have successors and were not run yet, in bytes. A
// short one takes about 3 KB with its decision.
const maxReplaced = 128 << 10

// noteMade notes what the last step has prepared, if there is one. The unnamed statement that it has
// replaced is dropped; but it stays in memory until the exchange was run, for it comes back where a step
// before its successor fails. Where there is no room for it, that is before the next message.
func (s *session) noteMade(made, was *statement) {
	b := &s.batch
	last := len(b.notes) - 1
	if last < 0 {
		return
	}
	b.notes[last].made, b.notes[last].was = made, was
	if was != nil && was.approved != nil {
		b.notes[last].told = was.approved.Told
	}
	if made.name == "" && was != nil && was != made && !s.prepared.holdReplaced(was) {
		b.mustRun = true
	}
}

// holdReplaced counts an unnamed statement that has a successor until both were run. It tells false where there is no room:
// it may stay until what was collected has been run, at once.
func (p *prepared) holdReplaced(was *statement) bool {
	size := was.wholeSize()
	if p.replaced+size > maxReplaced || p.keeps.reserve(size) != nil {
		return false
	}
	p.replaced += size
	return true
}

// releaseReplaced gives back what holdReplaced has counted.
func (p *prepared) releaseReplaced() {
	if p.replaced > 0 {
		p.keeps.release(p.replaced)
		p.replaced = 0
	}
}

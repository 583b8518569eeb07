package proxy

import "container/list"

// line is who waits for one account: chan struct{}, of which the first is told when something has ended.
type line = *list.List

// join gives a place in the account's line.
func (w *Work) join(a Account) *list.Element {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.lines[a.Project]
	if of == nil {
		of = map[string]line{}
		w.lines[a.Project] = of
	}
	if of[a.Server] == nil {
		of[a.Server] = list.New()
	}
	w.waiting++
	turn := of[a.Server].PushBack(make(chan struct{}, 1))
	look(of[a.Server]) // if it is the first: something may have ended meanwhile
	return turn
}

// dequeue gives a place up, and has the next one look.
func (w *Work) dequeue(a Account, turn *list.Element) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	of := w.lines[a.Project]
	of[a.Server].Remove(turn)
	if of[a.Server].Len() == 0 {
		delete(of, a.Server)
	}
	if len(of) == 0 {
		delete(w.lines, a.Project)
	}
	w.wake(a)
}

// wake has the first of the account's line look, and that of one other line of its project, as chance has it. The
// others cost nothing, however many wait; the first of each line looks by itself, too. The lock is held.
func (w *Work) wake(a Account) {
	of := w.lines[a.Project]
	if own := of[a.Server]; own != nil {
		look(own)
	}
	for _, other := range of {
		look(other)
		break
	}
}

// look has the first of a line look whether it may go on.
func look(l line) {
	select {
	case l.Front().Value.(chan struct{}) <- struct{}{}:
	default:
	}
}

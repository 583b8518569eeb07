package proxy

import "container/list"

// join gives a place in the project's line.
func (w *Work) join(a Account) *list.Element {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[a.Project]
	if line == nil {
		line = list.New()
		w.lines[a.Project] = line
	}
	w.waiting++
	turn := line.PushBack(make(chan struct{}, 1))
	w.wake(a.Project) // if it is the first: something may have ended meanwhile
	return turn
}

// leave gives a place up, and has the next one look.
func (w *Work) leave(a Account, turn *list.Element) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	line := w.lines[a.Project]
	line.Remove(turn)
	if line.Len() == 0 {
		delete(w.lines, a.Project)
	}
	w.wake(a.Project)
}

// wake has the first of a project's line look. The others cost nothing, however many wait. The lock is held.
func (w *Work) wake(project string) {
	line := w.lines[project]
	if line == nil {
		return
	}
	select {
	case line.Front().Value.(chan struct{}) <- struct{}{}:
	default:
	}
}

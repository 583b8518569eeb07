package rest

import "sync"

// bodies are the buffers of large answers while no answer is in them. None stays with the
// connection that needed it, and the collector takes those that were not used between two
// of its runs. The zero value is ready for use.
type bodies struct{ pool sync.Pool } // of *[]byte

// take gives an empty buffer, of any capacity.
func (b *bodies) take() *[]byte {
	if body, ok := b.pool.Get().(*[]byte); ok {
		return body
	}
	return new([]byte)
}

// giveBack takes a buffer whose answer was written, or never will be.
func (b *bodies) giveBack(body *[]byte) {
	if cap(*body) > largeBody {
		*body = (*body)[:0]
		b.pool.Put(body)
	}
}

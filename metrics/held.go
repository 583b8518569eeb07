package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// held collects some observations of a histogram and adds them together: a single one
// misses the processor's cache in the native buckets, which costs a request
// more than all its other metrics.
type held struct {
	mu     sync.Mutex
	n      int
	values [64]float64
	to     prometheus.Observer
}

// Observe implements prometheus.Observer.
func (h *held) Observe(value float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.values[h.n] = value
	if h.n++; h.n == len(h.values) {
		h.putIn()
	}
}

// flush puts in what is held.
func (h *held) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.putIn()
}

// putIn is flush for a caller that holds the lock.
func (h *held) putIn() {
	for _, value := range h.values[:h.n] {
		h.to.Observe(value)
	}
	h.n = 0
}

// heldVec is a vector of histograms of which nothing is held back when it is read.
type heldVec struct {
	vec  *prometheus.HistogramVec
	held []*held
}

// of gives the histogram of a label's value, which must be asked for before the vector is
// registered.
func (v *heldVec) of(value string) prometheus.Observer {
	h := &held{to: v.vec.WithLabelValues(value)}
	v.held = append(v.held, h)
	return h
}

// Describe implements prometheus.Collector, as Collect.
func (v *heldVec) Describe(out chan<- *prometheus.Desc) { v.vec.Describe(out) }

func (v *heldVec) Collect(out chan<- prometheus.Metric) {
	for _, h := range v.held {
		h.flush()
	}
	v.vec.Collect(out)
}

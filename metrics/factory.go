package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// namespace is the prefix of every metric that is not the Go runtime's or the process's.
const namespace = "tenantgate"

// The bounds of a native histogram: about 10% relative error, at most 160 buckets,
// and a reset once an hour at most when a histogram has outgrown them.
const (
	nativeFactor  = 1.1
	nativeBuckets = 160
	nativeReset   = time.Hour
)

// factory makes metrics and registers them; a name taken twice is a defect and panics.
type factory struct{ registry *prometheus.Registry }

// label is a label's name and the values it may have besides "other".
type label struct {
	name   string
	values []string
}

func (f factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(counterOpts(name, help))
	f.registry.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, by label) bounded[prometheus.Counter] {
	vec := f.counterVec(name, help, by.name)
	return newBounded(by.values, func(value string) prometheus.Counter {
		return vec.WithLabelValues(value)
	})
}

func (f factory) pairs(name, help string, first, second label) bounded[bounded[prometheus.Counter]] {
	vec := f.counterVec(name, help, first.name, second.name)
	return newBounded(first.values, func(a string) bounded[prometheus.Counter] {
		return newBounded(second.values, func(b string) prometheus.Counter {
			return vec.WithLabelValues(a, b)
		})
	})
}

func (f factory) counterVec(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(counterOpts(name, help), labels)
	f.registry.MustRegister(vec)
	return vec
}

func (f factory) gaugeVec(name, help string, labels ...string) *prometheus.GaugeVec {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	f.registry.MustRegister(vec)
	return vec
}

// histograms makes histograms that are exposed with the classic buckets given (upper
// bounds in seconds) and as native ones to a scraper that asks for them.
func (f factory) histograms(name, help string, by label, buckets []float64) bounded[prometheus.Observer] {
	vec := &heldVec{vec: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: name, Help: help,
		Buckets:                         buckets,
		NativeHistogramBucketFactor:     nativeFactor,
		NativeHistogramMaxBucketNumber:  nativeBuckets,
		NativeHistogramMinResetDuration: nativeReset,
	}, []string{by.name})}
	observers := newBounded(by.values, vec.of)
	f.registry.MustRegister(vec)
	return observers
}

func counterOpts(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}
}

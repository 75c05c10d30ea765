// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"time"
)

// A timer that is set and stopped while `pending` others are set.
func deadline(pending, workers int) {
	const rounds = 20000
	others := make([]*time.Timer, pending)
	for i := range others {
		others[i] = time.AfterFunc(time.Hour+time.Duration(i)*time.Millisecond, func() {})
	}
	best := int64(1) << 62
	for batch := 0; batch < 9; batch++ {
		start := now()
		for i := 0; i < rounds; i++ {
			time.AfterFunc(time.Hour, func() {}).Stop()
		}
		if spent := now() - start; spent < best {
			best = spent
		}
	}
	for _, other := range others {
		other.Stop()
	}
	figure("ns", float64(best)/rounds)
}

func late(microseconds, workers int) {
	samples := make([]int64, wakeSamples(microseconds))
	for i := range samples {
		until := now() + int64(microseconds)*1000
		time.Sleep(time.Duration(microseconds) * time.Microsecond)
		samples[i] = now() - until
	}
	sort.Slice(samples, func(a, b int) bool { return samples[a] < samples[b] })
	figure("p50", float64(samples[len(samples)/2]))
	figure("p99", float64(samples[len(samples)*99/100]))
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"sync/atomic"
)

func spinUntil(time int64) {
	for now() < time {
	}
}

// Half a second of samples.
func wakeSamples(idleMicroseconds int) int {
	fit := least(500000/idleMicroseconds, 3000)
	if fit < 300 {
		return 300
	}
	return fit
}

// The spawner stays on its thread and reads the clock, so the goroutine can only run on the thief.
func sample(idle int64) int64 {
	var ranAt atomic.Int64
	spinUntil(now() + idle)
	start := now()
	go func() { ranAt.Store(now()) }()
	for ranAt.Load() == 0 {
		if now() > start+1000000000 {
			fail("nobody came for a goroutine within a second")
		}
	}
	return ranAt.Load() - start
}

func wake(idleMicroseconds, workers int) {
	if workers != 2 {
		fail("wake wants two workers")
	}
	samples := make([]int64, wakeSamples(idleMicroseconds))
	start, busy := now(), processorTime()
	for i := range samples {
		samples[i] = sample(int64(idleMicroseconds) * 1000)
	}
	wall := now() - start
	figure("others_percent", 100*float64(processorTime()-busy-wall)/float64(wall))
	sort.Slice(samples, func(a, b int) bool { return samples[a] < samples[b] })
	figure("p50", float64(samples[len(samples)/2]))
	figure("p99", float64(samples[len(samples)*99/100]))
}

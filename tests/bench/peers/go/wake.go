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

// Half a second of them.
func wakeSamples(idleMicroseconds int) int {
	fit := least(500000/idleMicroseconds, 3000)
	if fit < 300 {
		return 300
	}
	return fit
}

// The spawner stays on its thread and looks at the clock: whoever runs the goroutine is a thief.
func wake(idleMicroseconds, workers int) {
	if workers != 2 {
		fail("wake wants two workers")
	}
	samples := make([]int64, wakeSamples(idleMicroseconds))
	for i := range samples {
		var ranAt atomic.Int64
		spinUntil(now() + int64(idleMicroseconds)*1000)
		start := now()
		go func() { ranAt.Store(now()) }()
		for ranAt.Load() == 0 {
			if now() > start+1000000000 {
				fail("nobody came for a goroutine within a second")
			}
		}
		samples[i] = ranAt.Load() - start
	}
	sort.Slice(samples, func(a, b int) bool { return samples[a] < samples[b] })
	figure("p50", float64(samples[len(samples)/2]))
	figure("p99", float64(samples[len(samples)*99/100]))
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func perTask(ns int64, tasks int) float64 { return float64(ns) / float64(tasks) }

// All tasks start and yield twice; the measurement lasts from the first that is done with that to the last that ends.
func yield(tasks, _ int) {
	rounds := 4000000 / tasks
	if rounds == 0 {
		rounds = 1
	}
	var begun, done atomic.Int64
	var start, end int64
	var all sync.WaitGroup
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			runtime.Gosched()
			runtime.Gosched()
			if begun.Add(1) == 1 {
				start = now()
			}
			for i := 0; i < rounds; i++ {
				runtime.Gosched()
			}
			if done.Add(1) == int64(tasks) {
				end = now()
			}
			all.Done()
		}()
	}
	all.Wait()
	figure("ns", perTask(end-start, tasks*rounds))
}

// Each task only writes its scope's mark into its own slot.
var marks [10000]byte

func spawnScope(tasks int, mark byte) {
	var all sync.WaitGroup
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func(i int) {
			marks[i] = mark
			all.Done()
		}(i)
	}
	all.Wait()
	for i := 0; i < tasks; i++ {
		if marks[i] != mark {
			fail("task %d of a scope did not run", i)
		}
	}
}

func spawnScopes(most, tasks int) int64 {
	start := now()
	for mark := byte(1); tasks > 0; mark++ {
		spawnScope(least(tasks, most), mark)
		tasks -= most
	}
	return now() - start
}

func spawnInScopesOf(most int) func(tasks, workers int) {
	return func(tasks, _ int) {
		spawnScopes(most, least(tasks, 100000))
		figure("ns", perTask(spawnScopes(most, tasks), tasks))
	}
}

func least(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// A million goroutines wait for the close of one channel.
func park(tasks int) (create, teardown, bytes float64) {
	gate := make(chan struct{})
	var waiting, all sync.WaitGroup
	waiting.Add(tasks)
	all.Add(tasks)
	before, start := residentBytes(), now()
	for i := 0; i < tasks; i++ {
		go func() {
			waiting.Done()
			<-gate
			all.Done()
		}()
	}
	waiting.Wait()
	runtime.Gosched()  // lets the last one block
	blocked := now()
	resident := residentBytes() - before
	opening := now()
	close(gate)
	all.Wait()
	return perTask(blocked-start, tasks), perTask(now()-opening, tasks), float64(resident) / float64(tasks)
}

func parked(tasks, _ int) {
	create, teardown, bytes := park(tasks)
	again, _, _ := park(tasks)
	figure("bytes", bytes)
	figure("create", create)
	figure("teardown", teardown)
	figure("reuse", again)
}

func roundTrips[T comparable](there, back chan T, rounds int, element func(int) T) {
	for i := 0; i < rounds; i++ {
		there <- element(i)
		if <-back != element(i) {
			fail("round trip %d brought something else", i)
		}
	}
}

// Two goroutines that exchange what `element` makes of a number.
func channelOf[T comparable](element func(int) T) func(rounds, workers int) {
	return func(rounds, _ int) {
		there, back := make(chan T), make(chan T)
		go func() {
			for one := range there {
				back <- one
			}
			close(back)
		}()
		roundTrips(there, back, rounds/10+1, element)
		start := now()
		roundTrips(there, back, rounds, element)
		figure("ns", perTask(now()-start, rounds))
		close(there)
		<-back
	}
}

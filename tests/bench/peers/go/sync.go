// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func lock(size, workers int) {
	var mutex sync.Mutex
	start := now()
	for i := 0; i < size; i++ {
		mutex.Lock()
		mutex.Unlock()
	}
	figure("ns", float64(now()-start)/float64(size))
}

var idle int

func waitALittle(steps int) {
	for i := 0; i < steps; i++ {
		idle = 0
	}
}

// A holder yields once in 64 times.
func contend(tasks, size int) {
	var mutex sync.Mutex
	var all sync.WaitGroup
	var count, passed int64
	rounds := size / tasks
	start := now()
	for task := 1; task <= tasks; task++ {
		all.Add(1)
		go func(seed uint64) {
			defer all.Done()
			for i := 0; i < rounds; i++ {
				before := atomic.LoadInt64(&count)
				mutex.Lock()
				if by := count - before; by > passed {
					passed = by
				}
				atomic.StoreInt64(&count, count+1)
				waitALittle(20)
				seed ^= seed << 13
				seed ^= seed >> 7
				seed ^= seed << 17
				if seed%64 == 0 {
					runtime.Gosched()
				}
				mutex.Unlock()
				waitALittle(60)
			}
		}(uint64(task)*0x9e3779b97f4a7c15 | 1)
	}
	all.Wait()
	figure("ns", float64(now()-start)/float64(rounds*tasks))
	figure("passed", float64(passed))
}

func contend2(size, workers int) { contend(2, size) }
func contend8(size, workers int) { contend(8, size) }

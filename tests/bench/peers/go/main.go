// SPDX-License-Identifier: Apache-2.0

// Go: goroutines, with as many Ps as workers, and defaults otherwise. A Go program cannot pin its Ps; with one worker
// the whole process runs on the last CPU.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

var workloads = map[string]func(size, workers int){
	"yield":       yield,
	"spawn":       spawnInScopesOf(1000),
	"spawn_10":    spawnInScopesOf(10),
	"spawn_100":   spawnInScopesOf(100),
	"spawn_10000": spawnInScopesOf(10000),
	"fib":         fib,
	"skynet":      skynet,
	"uts":         uts,
	"nqueens":     nqueens,
	"parked":      parked,
	"channel":     channelOf(func(i int) int { return i }),
	"channel_16":  channelOf(func(i int) [2]int { return [2]int{0: i, 1: i} }),
	"channel_64":  channelOf(func(i int) [8]int { return [8]int{0: i, 7: i} }),
	"wake":        wake,
	"deadline":    deadline,
	"late":        late,
	"select_2": select2,
	"select_8": select8,
	"select_64": select64,
	"select_wait_2": selectWait2,
	"select_wait_8": selectWait8,
	"select_wait_64": selectWait64,
	"lock":        lock,
	"contend_2":   contend2,
	"contend_8":   contend8,
}

func main() {
	if len(os.Args) != 4 {
		fail("usage: %s WORKLOAD SIZE WORKERS", os.Args[0])
	}
	size, workers := positive(os.Args[2]), positive(os.Args[3])
	run, known := workloads[os.Args[1]]
	if !known {
		os.Exit(3)
	}
	if workers == 1 {
		stayOnTheLastCPU()
	}
	runtime.GOMAXPROCS(workers)
	run(size, workers)
}

func positive(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		fail("%q is no number of anything", text)
	}
	return value
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

func figure(name string, value float64) {
	fmt.Printf("%s %.3f\n", name, value)
}

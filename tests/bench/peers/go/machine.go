// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

type cpuSet [16]uint64

// Pins all present threads; later threads inherit it.
func stayOnTheLastCPU() {
	var allowed, last cpuSet
	affinity(syscall.SYS_SCHED_GETAFFINITY, 0, &allowed)
	for cpu := 64*len(allowed) - 1; cpu >= 0; cpu-- {
		if allowed[cpu/64]>>(cpu%64)&1 == 1 {
			last[cpu/64] = 1 << (cpu % 64)
			break
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		fail("no list of threads: %v", err)
	}
	for _, thread := range threads {
		affinity(syscall.SYS_SCHED_SETAFFINITY, positive(thread.Name()), &last)
	}
}

func affinity(call uintptr, thread int, set *cpuSet) {
	if _, _, err := syscall.RawSyscall(call, uintptr(thread), unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set))); err != 0 {
		fail("CPU affinity: %v", err)
	}
}

// Includes page tables.
func residentBytes() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail("%v", err)
	}
	kib := 0
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "VmPTE:") {
			value, _ := strconv.Atoi(strings.Fields(line)[1])
			kib += value
		}
	}
	return kib * 1024
}

// The processor time of all threads of the process.
func processorTime() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail("%v", err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

var started = time.Now()

func now() int64 { return int64(time.Since(started)) }

// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

func fibOf(n int) int {
	if n < 2 {
		return n
	}
	var left int
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		left = fibOf(n - 1)
		child.Done()
	}()
	right := fibOf(n - 2)
	child.Wait()
	return left + right
}

func fib(n, _ int) {
	fibOf(least(n, 20))
	expected, next, spawns, before := 0, 1, 0, 0
	for i := 0; i < n; i++ {
		expected, next = next, expected+next
		if i > 0 {
			spawns, before = spawns+before+1, spawns
		}
	}
	start := now()
	result := fibOf(n)
	spent := now() - start
	if result != expected {
		fail("fib(%d) is not %d", n, result)
	}
	if spawns == 0 {
		spawns = 1
	}
	figure("ns", perTask(spent, spawns))
}

func skynetOf(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	var part [10]int
	var children sync.WaitGroup
	children.Add(10)
	for i := 0; i < 10; i++ {
		go func(i int) {
			part[i] = skynetOf(first+i*(leaves/10), leaves/10)
			children.Done()
		}(i)
	}
	children.Wait()
	sum := 0
	for _, one := range part {
		sum += one
	}
	return sum
}

func skynet(leaves, _ int) {
	tasks := 0
	for level := leaves; level > 1; level /= 10 {
		if level%10 != 0 {
			fail("skynet wants a power of ten of leaves")
		}
		tasks += level
	}
	skynetOf(0, least(leaves, 10000))
	start := now()
	sum := skynetOf(0, leaves)
	spent := now() - start
	if sum != leaves*(leaves-1)/2 {
		fail("the leaves add up to %d", sum)
	}
	figure("ns", perTask(spent, tasks))
	figure("ms", float64(spent)/1e6)
}

const mostQueens = 14

type board [mostQueens]int8 // the column of the queen in each row

// The queens in the rows above do not attack each other.
func (b *board) isSafe(row, column int) bool {
	for i := 0; i < row; i++ {
		apart, rows := int(b[i])-column, row-i
		if apart == 0 || apart == rows || apart == -rows {
			return false
		}
	}
	return true
}

// A goroutine for each placement that is safe.
func queens(b *board, row, size int) int {
	if row == size {
		return 1
	}
	var next [mostQueens]board
	var solutions [mostQueens]int
	var children sync.WaitGroup
	for column := 0; column < size; column++ {
		if !b.isSafe(row, column) {
			continue
		}
		next[column] = *b
		next[column][row] = int8(column)
		children.Add(1)
		go func(column int) {
			solutions[column] = queens(&next[column], row+1, size)
			children.Done()
		}(column)
	}
	children.Wait()
	sum := 0
	for _, one := range solutions {
		sum += one
	}
	return sum
}

func nqueens(size, _ int) {
	known := [mostQueens + 1]int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596}
	if size > mostQueens {
		fail("nqueens: a board of %d at most", mostQueens)
	}
	queens(new(board), 0, least(size, 8))
	start := now()
	solutions := queens(new(board), 0, size)
	spent := now() - start
	if solutions != known[size] {
		fail("%d solutions instead of %d", solutions, known[size])
	}
	figure("ms", float64(spent)/1e6)
}

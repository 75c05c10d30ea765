// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

// What a goroutine shares with its spawner is allocated on the heap, so it is one struct instead of several variables.
func fibOf(n int) int {
	if n < 2 {
		return n
	}
	var child struct {
		sync.WaitGroup
		result int
	}
	child.Add(1)
	go func() {
		child.result = fibOf(n - 1)
		child.Done()
	}()
	right := fibOf(n - 2)
	child.Wait()
	return child.result + right
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
	var children struct {
		sync.WaitGroup
		sums [10]int
	}
	children.Add(10)
	for i := 0; i < 10; i++ {
		go func(i int) {
			children.sums[i] = skynetOf(first+i*(leaves/10), leaves/10)
			children.Done()
		}(i)
	}
	children.Wait()
	sum := 0
	for _, one := range children.sums {
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

// The tree of ../../workloads/uts_tree.h.
const utsRoot, utsChildren, utsWithChildren = 42, 8, 536334041

func utsChild(state uint64, i int) uint64 {
	state += uint64(i+1) * 0x9e3779b97f4a7c15
	state = (state ^ state>>30) * 0xbf58476d1ce4e5b9
	state = (state ^ state>>27) * 0x94d049bb133111eb
	return state ^ state>>31
}

func utsIsLeaf(state uint64) bool { return state>>32 >= utsWithChildren }

// The nodes of a subtree whose topmost node has `children`.
func utsCount(state uint64, children int) int {
	nodes := 1
	for i := 0; i < children; i++ {
		if child := utsChild(state, i); utsIsLeaf(child) {
			nodes++
		} else {
			nodes += utsCount(child, utsChildren)
		}
	}
	return nodes
}

func utsNodes(children int) int {
	if children == 2000 {
		return 1567497
	}
	return utsCount(utsRoot, children)
}

// The same with a goroutine for each node. `part` gets the nodes below each child.
func utsVisit(state uint64, part []int) int {
	var children sync.WaitGroup
	children.Add(len(part))
	for i := range part {
		go func(i int) {
			part[i] = 1
			if child := utsChild(state, i); !utsIsLeaf(child) {
				part[i] = utsVisit(child, make([]int, utsChildren))
			}
			children.Done()
		}(i)
	}
	children.Wait()
	nodes := 1
	for _, below := range part {
		nodes += below
	}
	return nodes
}

func uts(trees, _ int) {
	part := make([]int, trees)
	utsVisit(utsRoot, part[:least(trees, 500)])
	start := now()
	nodes := utsVisit(utsRoot, part)
	spent := now() - start
	if nodes != utsNodes(trees) {
		fail("%d nodes", nodes)
	}
	figure("ns", perTask(spent, nodes))
}

const mostQueens = 14

type board [mostQueens]int8 // the column of the queen in each row

// Whether the last queen is safe, if the queens in the rows above do not attack each other.
func (b *board) isSafe(row, column int) bool {
	for i := 0; i < row; i++ {
		apart, rows := int(b[i])-column, row-i
		if apart == 0 || apart == rows || apart == -rows {
			return false
		}
	}
	return true
}

type placement struct {
	board     board
	solutions int
}

// The boards with one more safe queen.
func (b *board) placements(row, size int) []placement {
	var columns [mostQueens]int8
	count := 0
	for column := 0; column < size; column++ {
		if b.isSafe(row, column) {
			columns[count] = int8(column)
			count++
		}
	}
	found := make([]placement, count)
	for i := range found {
		found[i].board = *b
		found[i].board[row] = columns[i]
	}
	return found
}

// A goroutine for each of these boards.
func queens(b *board, row, size int) int {
	if row == size {
		return 1
	}
	next := b.placements(row, size)
	var children sync.WaitGroup
	children.Add(len(next))
	for i := range next {
		go func(next *placement) {
			next.solutions = queens(&next.board, row+1, size)
			children.Done()
		}(&next[i])
	}
	children.Wait()
	sum := 0
	for i := range next {
		sum += next[i].solutions
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

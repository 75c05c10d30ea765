// SPDX-License-Identifier: Apache-2.0
// uts_tree.h: an unbalanced tree, one text for the project's program and for the peers in C++. It is the binomial tree
// T3 of S. Olivier et al., "UTS: An Unbalanced Tree Search Benchmark" (LCPC 2006), but what decides whether a node has
// children is splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014) of its parent's state and its index, not SHA-1.
#pragma once

#include <stdint.h>

// The root has as many children as the caller asks for. Each other node has eight with this probability, else none.
enum { kChildren = 8 };
static const uint32_t kWithChildren = 536334041;  // of 2^32: 0.124875
static const uint64_t kRoot = 42;

// The state of the i-th child.
static inline uint64_t child_of(uint64_t state, long i) {
  state += (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
  state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
  state = (state ^ state >> 27) * 0x94d049bb133111ebu;
  return state ^ state >> 31;
}

static inline int is_leaf(uint64_t state) {
  return state >> 32 >= kWithChildren;
}

// The nodes of a subtree whose topmost node has `children`.
static inline long count_nodes(uint64_t state, long children) {
  long nodes = 1;
  for (long i = 0; i < children; ++i) {
    const uint64_t child = child_of(state, i);
    nodes += is_leaf(child) ? 1 : count_nodes(child, kChildren);
  }
  return nodes;
}

// The nodes of the tree whose root has `children`. The tree of the benchmark has as many in every language.
static inline long nodes_of_uts(long children) {
  return children == 2000 ? 1567497 : count_nodes(kRoot, children);
}

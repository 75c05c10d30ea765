// SPDX-License-Identifier: Apache-2.0
// uts [TREES]: counts the nodes of an unbalanced tree with a task for each node. The number of a node's children is a
// hash of the node's position, so the work cannot be divided in advance: S. Olivier et al., "UTS: An Unbalanced Tree
// Search Benchmark" (LCPC 2006), its binomial tree, but with the mixing function of splittable generators (G. Steele,
// D. Lea, C. Flood, OOPSLA 2014) instead of SHA-1. Then a single task counts the tree again.
#include <stdlib.h>

#include "size.h"

// The root has TREES children. Every other node has eight children with this probability, else none. So a child of the
// root has 125 nodes below it on average: seven of eight have none, and some have ten thousand.
enum { kChildren = 8 };
static const uint32_t kBears = 532575944;  // of 2^32: 0.124

struct node {
  uint64_t hash;
  long depth;
  long nodes, leaves, deepest;  // of the node's subtree, the node included; written by its task
};

static uint64_t mixed(uint64_t hash) {
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
  return hash ^ hash >> 31;
}

static struct node child_of(const struct node* node, long i) {
  return (struct node){.hash = mixed(node->hash + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u), .depth = node->depth + 1};
}

static int is_leaf(const struct node* node) {
  return node->hash >> 32 >= kBears;
}

static void begin(struct node* node) {
  node->nodes = 1;
  node->leaves = 0;
  node->deepest = node->depth;
}

static void add(struct node* node, const struct node* child) {
  node->nodes += child->nodes;
  node->leaves += child->leaves;
  if (child->deepest > node->deepest) node->deepest = child->deepest;
}

// --- A task for each node --------------------------------------------------------------------------------------------

static int64_t visit(void* arg);

// Spawns the children into `children` and adds up their results.
static int64_t visit_children(struct node* node, struct node* children, long count) {
  janus_nursery_create();
  for (long i = 0; i < count; ++i) {
    children[i] = child_of(node, i);
    if (janus_nursery_spawn(visit, &children[i]) < 0)
      visit(&children[i]);  // no budget for another task: call it directly
  }
  const long status = janus_nursery_await_all();
  for (long i = 0; i < count; ++i) add(node, &children[i]);
  return status;
}

static int64_t visit(void* arg) {
  struct node* node = arg;
  begin(node);
  if (is_leaf(node)) {
    node->leaves = 1;
    return 0;
  }
  struct node children[kChildren];
  return visit_children(node, children, kChildren);
}

// --- The same tree without tasks -------------------------------------------------------------------------------------

static void count(struct node* node);

static void count_children(struct node* node, long children) {
  for (long i = 0; i < children; ++i) {
    struct node child = child_of(node, i);
    count(&child);
    add(node, &child);
  }
}

static void count(struct node* node) {
  begin(node);
  if (is_leaf(node)) {
    node->leaves = 1;
  } else {
    count_children(node, kChildren);
  }
}

int main(int argc, char** argv) {
  const long trees = size_argument(argc, argv, 2000, 1000000);
  struct node *children = malloc((size_t)trees * sizeof *children), root = {.hash = 19}, again = root;
  if (!children) return 1;
  begin(&root);
  const int64_t status = visit_children(&root, children, trees);
  free(children);
  begin(&again);
  count_children(&again, trees);
  janus_print(1, "%ld nodes, %ld leaves, %ld deep\n", root.nodes, root.leaves, root.deepest);
  return status < 0 || root.nodes != again.nodes || root.leaves != again.leaves || root.deepest != again.deepest;
}

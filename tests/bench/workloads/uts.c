// SPDX-License-Identifier: Apache-2.0
// uts.c: counts the nodes of an unbalanced tree. Each node is a task, and each node with children has a nursery.
#include "bench.h"
#include "uts_tree.h"

struct node {
  uint64_t state;
  long nodes;  // of the subtree, this one included
};

static int64_t visit(void* arg);

static int64_t visit_children(struct node* node, struct node* children, long count) {
  if (!janus_nursery_create()) return -1;
  for (long i = 0; i < count; ++i) {
    children[i].state = child_of(node->state, i);
    if (janus_nursery_spawn(visit, &children[i]) < 0) return -1;
  }
  const long status = janus_nursery_await_all();
  node->nodes = 1;
  for (long i = 0; i < count; ++i) node->nodes += children[i].nodes;
  return status;
}

static int64_t visit(void* arg) {
  struct node* node = arg;
  if (is_leaf(node->state)) {
    node->nodes = 1;
    return 0;
  }
  struct node children[kChildren];
  return visit_children(node, children, kChildren);
}

static long time_tree(long trees, uint64_t* time) {
  struct node root = {.state = kRoot}, *children = janus_alloc((size_t)trees * sizeof *children);
  EXPECT(children != NULL);
  const uint64_t start = janus_now_ns();
  const int64_t status = visit_children(&root, children, trees);
  *time = janus_now_ns() - start;
  janus_free(children);
  EXPECT(status == 0 && root.nodes == nodes_of_uts(trees));
  return root.nodes;
}

// A root with `size` children; each node is an operation.
void bench_uts(long size, int workers) {
  (void)workers;
  uint64_t time;
  time_tree(size < 500 ? size : 500, &time);
  const long nodes = time_tree(size, &time);
  figure("ns", (int64_t)time, nodes);
}

// SPDX-License-Identifier: Apache-2.0
// skynet [LEAVES]: every task spawns ten tasks, down to the leaves, which return their number; every other task returns
// the sum of its children's results.
#include "size.h"

struct node {
  long first, leaves;
};

static int64_t skynet(void* arg) {
  const struct node* node = arg;
  if (node->leaves == 1) return node->first;
  struct node child[10];
  janus_task task[10];
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 10; ++i) {
    child[i].leaves = node->leaves / 10;
    child[i].first = node->first + i * child[i].leaves;
    task[i] = janus_nursery_spawn_in(nursery, skynet, &child[i], NULL);
  }
  int64_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    int64_t part = -1;
    if (janus_task_join(task[i], &part) < 0 || part < 0) sum = INT64_MIN / 2;
    sum += part;
  }
  const long status = janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return status < 0 ? status : sum;
}

int main(int argc, char** argv) {
  struct node root = {0, size_argument(argc, argv, 1000000, 100000000)};
  long power = 1;
  while (power < root.leaves) power *= 10;
  root.leaves = power;  // LEAVES rounded up to a power of ten
  const int64_t sum = skynet(&root);
  janus_print(1, "%ld leaves, sum %lld\n", root.leaves, (long long)sum);
  return sum != root.leaves * (root.leaves - 1) / 2;
}

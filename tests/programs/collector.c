// SPDX-License-Identifier: Apache-2.0
// collector [SIZE]: eight tasks build SIZE trees each, of 255 cells from one small heap, and drop them. Whoever finds the heap
// empty stops the program, marks what it finds on the stacks of all tasks and from there, and frees the rest: a conservative
// mark-sweep collector. Prints how many trees were whole, and whether cells were used again.
#include <janus/sync.h>

#include "size.h"

enum { kTasks = 8, kDepth = 7, kCellsOfTree = 255, kCells = 4096 };

typedef struct cell {
  struct cell *left, *right;
  struct cell* link;  // of the free cells, or of those that are still to be looked at
  int is_marked;
} cell;

static cell cells[kCells];
static cell* free_cells;
static janus_mutex guard;  // of free_cells; no task comes to a check with them in disorder
static long collections;

static void mark(uintptr_t word, cell** to_do) {
  const uintptr_t from = (uintptr_t)cells;
  if (word < from || word >= from + sizeof cells || (word - from) % sizeof(cell) != 0) return;
  cell* const found = (cell*)word;
  if (found->is_marked) return;
  found->is_marked = 1;
  found->link = *to_do;
  *to_do = found;
}

static void mark_from(uintptr_t word) {
  cell* to_do = NULL;
  mark(word, &to_do);
  while (to_do) {
    const cell* const next = to_do;
    to_do = next->link;
    mark((uintptr_t)next->left, &to_do);
    mark((uintptr_t)next->right, &to_do);
  }
}

// What a task has: its frames, with its registers, and its argument.
static int scan(const janus_task_view* task, void* unused) {
  (void)unused;
  const uintptr_t* word = (const uintptr_t*)(((uintptr_t)task->saved_sp + 7) & ~(uintptr_t)7);
  for (; word < (const uintptr_t*)task->frames_high; ++word) mark_from(*word);
  mark_from((uintptr_t)task->arg);
  return 0;
}

static void sweep(void) {
  for (cell* each = cells; each < cells + kCells; ++each) {
    if (!each->is_marked) {
      *each = (cell){.link = free_cells};
      free_cells = each;
    }
    each->is_marked = 0;
  }
}

static void give_up(const char* why) {
  janus_print(2, "collector: %s\n", why);
  janus_exit(1);
}

// Another task may have collected while this one waited for its turn.
static void collect(void) {
  if (janus_safepoint_stop(NULL, -1) != 0) give_up("the program cannot be stopped");
  if (!free_cells) {
    if (janus_safepoint_walk(NULL, scan, NULL) != 0) give_up("no walk");
    sweep();
    ++collections;
    if (!free_cells) give_up("every cell is in use");
  }
  janus_safepoint_resume(NULL);
}

static cell* new_cell(void) {
  for (;;) {
    janus_mutex_lock(&guard);
    cell* const fresh = free_cells;
    if (fresh) free_cells = fresh->link;
    janus_mutex_unlock(&guard);
    if (fresh) return fresh;
    collect();
  }
}

static cell* grow(int depth) {
  cell* const tree = new_cell();
  if (depth > 0) {
    tree->left = grow(depth - 1);
    tree->right = grow(depth - 1);
  }
  return tree;
}

static int64_t count(const cell* tree) {
  janus_yield_check(1);
  return tree ? 1 + count(tree->left) + count(tree->right) : 0;
}

typedef struct {
  long trees, whole;
} work;

// A tree's second half is grown by a child, which runs in the place of this task or on another stack.
typedef struct {
  cell* half;
} half_tree;

static int64_t grow_half(void* half) {
  ((half_tree*)half)->half = grow(kDepth - 1);
  return 0;
}

static int64_t build(void* arg) {
  work* const mine = arg;
  for (long i = 0; i < mine->trees; i++) {
    cell* const tree = new_cell();
    half_tree second = {NULL};
    janus_nursery_create();
    janus_nursery_spawn(grow_half, &second);
    tree->left = grow(kDepth - 1);
    janus_nursery_await_all();
    tree->right = second.half;
    mine->whole += count(tree) == kCellsOfTree;
  }
  return 0;
}

int main(int argc, char** argv) {
  const long size = size_argument(argc, argv, 40, 100000);
  work works[kTasks];
  long whole = 0;
  sweep();
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kTasks; i++) {
    works[i] = (work){size, 0};
    janus_nursery_spawn_in(nursery, build, &works[i], NULL);
  }
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  for (int i = 0; i < kTasks; i++) whole += works[i].whole;
  janus_print(1, "%ld trees are whole; cells were %s\n", whole, collections ? "used again" : "enough");
}

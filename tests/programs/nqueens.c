// SPDX-License-Identifier: Apache-2.0
// nqueens [N]: counts the ways to place N queens on an N x N board. A task for each way to fill the first rows; below
// these, loops with yield checks.
#include "size.h"

#ifndef TASK_ROWS
#define TASK_ROWS 3
#endif
enum { kTaskRows = TASK_ROWS, kMaxQueens = 16 };

// The columns and diagonals that are attacked, as bits of the next row.
struct board {
  uint32_t columns, left, right;
  int row, size;
  long* solutions;
};

static struct board with_queen(const struct board* board, uint32_t bit) {
  struct board next = *board;
  next.columns |= bit;
  next.left = (board->left | bit) << 1;
  next.right = (board->right | bit) >> 1;
  ++next.row;
  return next;
}

static uint32_t free_squares(const struct board* board) {
  return ((1u << board->size) - 1) & ~(board->columns | board->left | board->right);
}

static long count(const struct board* board) {
  if (board->row == board->size) return 1;
  if (janus_yield_check(1) < 0) return 0;
  long solutions = 0;
  for (uint32_t squares = free_squares(board); squares; squares &= squares - 1) {
    const struct board next = with_queen(board, squares & -squares);
    solutions += count(&next);
  }
  return solutions;
}

static int64_t solve(void* arg) {
  const struct board* board = arg;
  if (board->row >= kTaskRows || board->row == board->size) {
    __atomic_fetch_add(board->solutions, count(board), __ATOMIC_RELAXED);
    return 0;
  }
  struct board next[kMaxQueens];
  int queens = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  for (uint32_t squares = free_squares(board); squares; squares &= squares - 1) {
    next[queens] = with_queen(board, squares & -squares);
    if (!janus_nursery_spawn_in(nursery, solve, &next[queens], &detached).raw) solve(&next[queens]);
    ++queens;
  }
  const long status = janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return status;
}

int main(int argc, char** argv) {
  static const long known[kMaxQueens + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                             352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
  long solutions = 0;
  struct board board = {.size = (int)size_argument(argc, argv, 11, kMaxQueens), .solutions = &solutions};
  const int64_t status = solve(&board);
  janus_print(1, "%d queens: %ld solutions\n", board.size, solutions);
  return status < 0 || solutions != known[board.size];
}

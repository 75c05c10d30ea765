// SPDX-License-Identifier: Apache-2.0
// sort.c: qsort and bsearch. Quicksort on the median of three, insertion sort for short ranges, and heap sort once too
// many partitions were bad: in place, O(n log n) in every case, and O(log n) of the task's small stack. The steps of
// qsort are charged like the program's own loops; bsearch, which takes at most 64 steps, charges nothing.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linker/c/src/define.h"
#include "linker/c/src/pay.h"

enum { kShort = 12 };

typedef int (*comparison)(const void*, const void*);

struct sorter {
  size_t bytes;
  comparison compare;
  unsigned unpaid;  // steps not charged yet: comparisons, and swaps of pieces of items
};

static void count_step(struct sorter* s) {
  enum { kStepsAtOnce = 64 };
  if (++s->unpaid < kStepsAtOnce) return;
  s->unpaid = 0;
  janus_pay(kStepsAtOnce);
}

static int compare(struct sorter* s, const char* left, const char* right) {
  count_step(s);
  return s->compare(left, right);
}

static void swap(struct sorter* s, char* left, char* right) {
  char held[64];
  for (size_t done = 0, part; done < s->bytes; done += part) {
    part = s->bytes - done < sizeof held ? s->bytes - done : sizeof held;
    memcpy(held, left + done, part);
    memmove(left + done, right + done, part);
    memcpy(right + done, held, part);
    count_step(s);
  }
}

static void insertion_sort(struct sorter* s, char* items, size_t count) {
  for (size_t i = 1; i < count; i++)
    for (char* at = items + i * s->bytes; at > items && compare(s, at - s->bytes, at) > 0; at -= s->bytes)
      swap(s, at - s->bytes, at);
}

// Moves the item at `root` down the heap until none of its children is greater.
static void sift_down(struct sorter* s, char* items, size_t root, size_t count) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    char* larger = items + child * s->bytes;
    if (child + 1 < count && compare(s, larger, larger + s->bytes) < 0) {
      larger += s->bytes;
      child++;
    }
    if (compare(s, items + root * s->bytes, larger) >= 0) return;
    swap(s, items + root * s->bytes, larger);
  }
}

static void heap_sort(struct sorter* s, char* items, size_t count) {
  for (size_t root = count / 2; root-- > 0;) sift_down(s, items, root, count);
  for (size_t left = count; left-- > 1;) {
    swap(s, items, items + left * s->bytes);
    sift_down(s, items, 0, left);
  }
}

// Moves the median of the first, middle and last item to the front.
static void choose_pivot(struct sorter* s, char* items, size_t count) {
  char *first = items, *middle = items + count / 2 * s->bytes, *last = items + (count - 1) * s->bytes;
  if (compare(s, middle, last) > 0) swap(s, middle, last);
  if (compare(s, first, last) > 0) swap(s, first, last);
  if (compare(s, first, middle) < 0) swap(s, first, middle);
}

// Hoare's partition. Returns the pivot's final index: no item to its left is greater, none to its right is smaller. The
// indices are also checked against the ends, so that with an inconsistent comparison the array still becomes a
// permutation of itself and no access is out of bounds.
static size_t partition(struct sorter* s, char* items, size_t count) {
  choose_pivot(s, items, count);
  size_t low = 0, high = count;
  for (;;) {
    do low++;
    while (low < count && compare(s, items + low * s->bytes, items) < 0);
    do high--;
    while (high > 0 && compare(s, items + high * s->bytes, items) > 0);
    if (low >= high) break;
    swap(s, items + low * s->bytes, items + high * s->bytes);
  }
  swap(s, items, items + high * s->bytes);
  return high;
}

static void sort(struct sorter* s, char* items, size_t count, unsigned bad_partitions_left) {
  while (count > kShort) {
    if (bad_partitions_left-- == 0) {
      heap_sort(s, items, count);
      return;
    }
    const size_t pivot = partition(s, items, count);
    char* upper = items + (pivot + 1) * s->bytes;
    const size_t upper_count = count - pivot - 1;
    // Recursion for the shorter part, the loop for the longer one: so the stack stays O(log n).
    if (pivot < upper_count) {
      sort(s, items, pivot, bad_partitions_left);
      items = upper;
      count = upper_count;
    } else {
      sort(s, upper, upper_count, bad_partitions_left);
      count = pivot;
    }
  }
  insertion_sort(s, items, count);
}

JANUS_C_DEFINE void qsort(void* items, size_t count, size_t bytes, comparison compare) {
  if (count < 2 || bytes == 0) return;
  struct sorter s = {bytes, compare, 0};
  sort(&s, items, count, 2 * (64 - (unsigned)__builtin_clzll(count)));
}

JANUS_C_DEFINE void* bsearch(const void* key, const void* items, size_t count, size_t bytes, comparison compare) {
  const char* first = items;
  while (count > 0) {
    const char* middle = first + count / 2 * bytes;
    const int order = compare(key, middle);
    if (order == 0) return (void*)middle;
    if (order > 0) {
      first = middle + bytes;
      count--;
    }
    count /= 2;
  }
  return NULL;
}

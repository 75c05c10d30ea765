// SPDX-License-Identifier: Apache-2.0
#include "rt/base/list.h"

#include "tests/harness/test.h"

namespace {

struct Queue;
struct Sleepers;

struct Item : janus::ListLink<Queue>, janus::ListLink<Sleepers> {
  explicit Item(int n) : number(n) {}
  int number;
};

using ItemQueue = janus::List<Item, Queue>;
using ItemSleepers = janus::List<Item, Sleepers>;

TEST(list, a_new_list_is_empty) {
  ItemQueue list;
  CHECK(list.is_empty());
  CHECK_EQ(list.front(), nullptr);
  CHECK_EQ(list.back(), nullptr);
  CHECK_EQ(list.pop_front(), nullptr);
  CHECK_EQ(list.pop_back(), nullptr);
}

TEST(list, entries_are_popped_in_the_order_of_pushes) {
  ItemQueue list;
  Item a(1), b(2), c(3);
  list.push_back(&a);
  list.push_back(&b);
  list.push_back(&c);
  CHECK_EQ(list.pop_front(), &a);
  CHECK_EQ(list.pop_front(), &b);
  CHECK_EQ(list.pop_front(), &c);
  CHECK(list.is_empty());
}

TEST(list, both_ends_push_and_pop) {
  ItemQueue list;
  Item a(1), b(2), c(3);
  list.push_front(&b);
  list.push_front(&a);
  list.push_back(&c);
  CHECK_EQ(list.front(), &a);
  CHECK_EQ(list.back(), &c);
  CHECK_EQ(list.pop_back(), &c);
  CHECK_EQ(list.pop_back(), &b);
  CHECK_EQ(list.pop_back(), &a);
  CHECK(list.is_empty());
}

TEST(list, a_node_is_removed_from_anywhere) {
  Item items[3] = {Item(0), Item(1), Item(2)};
  for (int removed = 0; removed < 3; ++removed) {
    ItemQueue list;
    for (Item& item : items) list.push_back(&item);
    ItemQueue::remove(&items[removed]);
    CHECK(!static_cast<janus::ListLink<Queue>&>(items[removed]).is_linked());
    int expected = removed == 0 ? 1 : 0;
    for (Item* item = list.front(); item != nullptr; item = list.after(item)) {
      CHECK_EQ(item->number, expected);
      expected += expected + 1 == removed ? 2 : 1;
    }
    CHECK_EQ(expected, 3);
    while (list.pop_front() != nullptr) {
    }
  }
}

TEST(list, one_object_is_in_two_lists_at_once) {
  ItemQueue queue;
  ItemSleepers sleepers;
  Item a(1), b(2);
  queue.push_back(&a);
  queue.push_back(&b);
  sleepers.push_back(&b);
  sleepers.push_back(&a);
  CHECK_EQ(queue.pop_front(), &a);
  CHECK_EQ(sleepers.pop_front(), &b);
  CHECK_EQ(sleepers.pop_front(), &a);
  CHECK_EQ(queue.pop_front(), &b);
}

TEST(list, splicing_moves_all_in_order_and_empties_the_other) {
  ItemQueue list;
  ItemQueue other;
  Item a(1), b(2), c(3);
  list.splice_back(other);
  CHECK(list.is_empty());
  other.push_back(&a);
  list.splice_back(other);
  CHECK(other.is_empty());
  other.push_back(&b);
  other.push_back(&c);
  list.splice_back(other);
  CHECK(other.is_empty());
  CHECK_EQ(list.pop_front(), &a);
  CHECK_EQ(list.pop_front(), &b);
  CHECK_EQ(list.pop_back(), &c);
  CHECK(list.is_empty());
  other.push_back(&a);
  CHECK_EQ(other.pop_front(), &a);
}

TEST(list, a_compact_list_has_its_first_in_front_and_removes_any) {
  alignas(janus::CompactList<Item, Queue>) unsigned char memory[sizeof(janus::CompactList<Item, Queue>)] = {};
  auto& list = *reinterpret_cast<janus::CompactList<Item, Queue>*>(memory);
  CHECK(list.is_empty());
  CHECK_EQ(list.front(), nullptr);
  Item items[3] = {Item(0), Item(1), Item(2)};
  for (int removed = 0; removed < 3; ++removed) {
    for (Item& item : items) list.push_back(&item);
    list.remove(&items[removed]);
    CHECK(!static_cast<janus::ListLink<Queue>&>(items[removed]).is_linked());
    int expected = removed == 0 ? 1 : 0;
    for (Item* item = list.front(); item != nullptr; item = list.after(item)) {
      CHECK_EQ(item->number, expected);
      expected += expected + 1 == removed ? 2 : 1;
    }
    CHECK_EQ(expected, 3);
    while (Item* const first = list.front()) list.remove(first);
    CHECK(list.is_empty());
  }
}

TEST(list, reset_makes_zeroed_memory_a_list) {
  alignas(ItemQueue) unsigned char memory[sizeof(ItemQueue)] = {};
  ItemQueue& list = *reinterpret_cast<ItemQueue*>(memory);
  list.reset();
  CHECK(list.is_empty());
  Item a(1);
  list.push_back(&a);
  CHECK_EQ(list.pop_front(), &a);
}

}  // namespace

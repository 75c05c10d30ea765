// SPDX-License-Identifier: Apache-2.0
// keyed_queue_test.cpp — rt/task/locks/keyed_queue.h beside a plain model of it.
#include "rt/task/locks/keyed_queue.h"

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr unsigned kNodes = 24, kGroups = 4;

struct Node : QueuedWaiter {
  bool is_in = false;
};

// A group is known by its address alone.
const Account* group(unsigned number) {
  return reinterpret_cast<const Account*>(std::uintptr_t{64} * number);
}

// What the queue of one key holds: the groups in turn, each with its waiters in turn.
struct Model {
  Node* waiters[kGroups][kNodes];
  unsigned counts[kGroups];
  const Account* groups[kGroups];
  unsigned count = 0;

  unsigned find(const Account* which) const {
    unsigned i = 0;
    while (i < count && groups[i] != which) ++i;
    return i;
  }
  void drop(unsigned i) {
    for (--count; i < count; ++i) {
      groups[i] = groups[i + 1];
      counts[i] = counts[i + 1];
      for (unsigned k = 0; k < counts[i]; ++k) waiters[i][k] = waiters[i + 1][k];
    }
  }
  void append(Node& node) {
    const unsigned i = find(node.group);
    if (i == count) {
      groups[count] = node.group;
      counts[count++] = 0;
    }
    waiters[i][counts[i]++] = &node;
  }
  void remove(Node& node) {
    const unsigned i = find(node.group);
    unsigned k = 0;
    while (waiters[i][k] != &node) ++k;
    for (--counts[i]; k < counts[i]; ++k) waiters[i][k] = waiters[i][k + 1];
    if (counts[i] == 0) drop(i);
  }
  void to_end(unsigned i) {
    const Account* const which = groups[i];
    Node* rest[kNodes];
    const unsigned left = counts[i];
    for (unsigned k = 0; k < left; ++k) rest[k] = waiters[i][k];
    drop(i);
    for (unsigned k = 0; k < left; ++k) append(*rest[k]);
    (void)which;
  }
};

QueuedWaiter* oldest(KeyedQueue& queue, const Node& node) {
  return queue.find(node.key, [&](const QueuedWaiter& other) { return other.group == node.group; });
}

void check(KeyedQueue& queue, std::uint64_t key, const Model& model) {
  const QueuedWaiter* at = queue.first(key);
  for (unsigned i = 0; i < model.count; ++i, at = at->next) {
    const QueuedWaiter* each = at;
    const QueuedWaiter* before = nullptr;
    for (unsigned k = 0; k < model.counts[i]; ++k, before = each, each = each->behind) {
      REQUIRE(each == model.waiters[i][k]);
      REQUIRE(each->ahead == before);
    }
    REQUIRE(each == nullptr);
    REQUIRE(at->last_behind == model.waiters[i][model.counts[i] - 1]);
  }
  REQUIRE(at == nullptr);
}

}  // namespace

TEST(keyed_queue, it_is_as_its_model_whatever_comes_and_goes) {
  Dice dice(11);
  for (int round = 0; round < 200; ++round) {
    // Keys that share their low bits, so that the tree gets deep; and few, so that lists get long.
    std::uint64_t keys[5];
    Model models[5] = {};
    for (std::uint64_t& key : keys) key = std::uint64_t{dice.below(4)} << (8 * dice.below(8)) | 1;
    for (unsigned i = 1; i < 5; ++i)
      for (unsigned k = 0; k < i; ++k)
        if (keys[i] == keys[k]) keys[i] = (keys[i] + 2 * (i + 5 * k + 1)) * 7, k = 0;
    KeyedQueue queue;
    Node nodes[kNodes] = {};
    for (int step = 0; step < 300; ++step) {
      const unsigned which = dice.below(5);
      Node& node = nodes[dice.below(kNodes)];
      if (!node.is_in) {
        node.key = keys[which];
        node.group = group(dice.below(kGroups));
        QueuedWaiter* const first = oldest(queue, node);
        if (dice.below(4) != 0) {
          queue.join_group(node, first);
          models[which].append(node);
        } else {
          // Before the rest of its group, which goes behind all others.
          queue.lead_group(node, first);
          Model& model = models[which];
          const unsigned i = model.find(node.group);
          Node* rest[kNodes];
          const unsigned count = i < model.count ? model.counts[i] : 0;
          for (unsigned k = 0; k < count; ++k) rest[k] = model.waiters[i][k];
          if (i < model.count) model.drop(i);
          model.append(node);
          for (unsigned k = 0; k < count; ++k) model.append(*rest[k]);
        }
        node.is_in = true;
      } else {
        unsigned at = 0;
        while (keys[at] != node.key) ++at;
        Model& model = models[at];
        auto& first = static_cast<Node&>(*oldest(queue, node));
        if (&node == &first && dice.below(2) == 0) {
          queue.serve(node);
          const unsigned i = model.find(node.group), before = model.count;
          model.remove(node);
          if (model.count == before) model.to_end(i);
        } else {
          queue.leave(node, first);
          model.remove(node);
        }
        node.is_in = false;
      }
      for (unsigned i = 0; i < 5; ++i) check(queue, keys[i], models[i]);
    }
  }
}

TEST(keyed_queue, a_path_has_no_more_than_64_steps) {
  static Node nodes[64];
  KeyedQueue queue;
  for (unsigned i = 0; i < 64; ++i) {
    nodes[i].key = ~std::uint64_t{0} >> (63 - i);
    nodes[i].group = nullptr;
    queue.join_group(nodes[i], nullptr);
  }
  for (Node& node : nodes) CHECK(queue.first(node.key) == &node);
  for (unsigned i = 0; i < 64; ++i) {
    Node& node = nodes[(i * 29) % 64];
    queue.leave(node, node);
    CHECK(queue.first(node.key) == nullptr);
  }
}

}  // namespace janus::test

// SPDX-License-Identifier: Apache-2.0
// rt/base/list.h — an intrusive doubly linked list: no allocation, removal without search. Not thread-safe. Neither the
// list nor its nodes may move while they are linked.
#pragma once

#include "rt/base/assert.h"
#include "rt/base/atomic.h"

namespace janus {

// Base class of the nodes; Tag distinguishes several such bases of one object. All zero bytes are an unlinked node.
template <typename Tag = void>
struct ListLink {
  ListLink* previous = nullptr;
  ListLink* next = nullptr;

  [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
};

template <typename T, typename Tag = void>
class List {
 public:
  using Link = ListLink<Tag>;

  List() noexcept { reset(); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  // Initialises a list in zeroed memory, in place of the constructor.
  void reset() noexcept { head_.previous = head_.next = &head_; }

  [[nodiscard]] bool is_empty() const noexcept { return head_.next == &head_; }
  [[nodiscard]] T* front() noexcept { return is_empty() ? nullptr : item(head_.next); }
  [[nodiscard]] T* back() noexcept { return is_empty() ? nullptr : item(head_.previous); }
  // The node behind `node`; nullptr at the end.
  [[nodiscard]] T* after(T* node) noexcept {
    Link* next = link(node)->next;
    return next == &head_ ? nullptr : item(next);
  }

  void push_front(T* node) noexcept { insert(link(node), head_.next); }
  void push_back(T* node) noexcept { insert(link(node), &head_); }
  // Precondition: `node` is in a list.
  static void remove(T* node) noexcept { unlink(link(node)); }

  // Removes `node`, which is the first, and leaves its own links as they are: for nodes whose is_linked() is not used
  // afterwards.
  void drop_front(T* node) noexcept {
    JANUS_ASSERT(head_.next == link(node));
    Link* const second = link(node)->next;
    head_.next = second;
    second->previous = &head_;
  }

  T* pop_front() noexcept { return pop(head_.next); }
  T* pop_back() noexcept { return pop(head_.previous); }

  // Moves all nodes of `other` to the end of this list.
  void splice_back(List& other) noexcept {
    if (other.is_empty()) return;
    Link* const first = other.head_.next;
    Link* const last = other.head_.previous;
    first->previous = head_.previous;
    head_.previous->next = first;
    last->next = &head_;
    head_.previous = last;
    other.reset();
  }

 private:
  static Link* link(T* node) noexcept { return static_cast<Link*>(node); }
  static T* item(Link* link) noexcept { return static_cast<T*>(link); }

  static void insert(Link* node, Link* before) noexcept {
    JANUS_ASSERT(!node->is_linked());
    node->previous = before->previous;
    node->next = before;
    before->previous->next = node;
    before->previous = node;
  }

  static void unlink(Link* node) noexcept {
    JANUS_ASSERT(node->next->previous == node && node->previous->next == node);
    node->previous->next = node->next;
    node->next->previous = node->previous;
    node->previous = node->next = nullptr;
  }

  T* pop(Link* node) noexcept {
    if (node == &head_) return nullptr;
    unlink(node);
    return item(node);
  }

  Link head_;
};

// A queue whose head is one word, for records that hold several queues: the nodes are linked in a ring, and the head
// points to the first. A head of zero bytes is an empty queue.
template <typename T, typename Tag = void>
class CompactList {
 public:
  // Any thread. The result may be out of date unless the caller excludes changes.
  [[nodiscard]] bool is_empty() const noexcept { return first_.load(std::memory_order_relaxed) == nullptr; }
  [[nodiscard]] T* front() const noexcept { return item(first_.load(std::memory_order_relaxed)); }
  // The node behind `node`; nullptr at the end.
  [[nodiscard]] T* after(T* node) const noexcept {
    Link* const next = link(node)->next;
    return next == first_.load(std::memory_order_relaxed) ? nullptr : item(next);
  }

  void push_back(T* node) noexcept {
    Link* const added = link(node);
    JANUS_ASSERT(!added->is_linked());
    Link* const first = first_.load(std::memory_order_relaxed);
    if (first == nullptr) {
      added->previous = added->next = added;
      first_.store(added, std::memory_order_relaxed);
      return;
    }
    added->previous = first->previous;
    added->next = first;
    first->previous->next = added;
    first->previous = added;
  }

  // Precondition: `node` is in this list.
  void remove(T* node) noexcept {
    Link* const gone = link(node);
    Link* const next = gone->next;
    JANUS_ASSERT(next->previous == gone && gone->previous->next == gone);
    if (first_.load(std::memory_order_relaxed) == gone)
      first_.store(next == gone ? nullptr : next, std::memory_order_relaxed);
    gone->previous->next = next;
    next->previous = gone->previous;
    gone->previous = gone->next = nullptr;
  }

 private:
  using Link = ListLink<Tag>;
  static Link* link(T* node) noexcept { return static_cast<Link*>(node); }
  static T* item(Link* link) noexcept { return static_cast<T*>(link); }

  Atomic<Link*> first_;
};

}  // namespace janus

// SPDX-License-Identifier: Apache-2.0
// rt/base/list.h — an intrusive doubly linked list: no allocation, removal without search. Not thread-safe. Neither the
// list nor its nodes may move while they are linked.
#pragma once

#include "rt/base/assert.h"

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

}  // namespace janus

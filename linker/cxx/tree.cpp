// SPDX-License-Identifier: Apache-2.0
// tree.cpp: the functions of the compiled C++ library that std::map, std::set and their multi forms call: iteration in
// a red-black tree, insertion and removal of nodes (Guibas and Sedgewick 1978). The header node's parent is the root,
// its left and right are the first and the last node. The header is the root's parent; it is red, which distinguishes
// it from the root. docs/decisions/0198
#include <bits/stl_tree.h>

#include <utility>

namespace std {

namespace {

using Node = _Rb_tree_node_base;

bool is_red(const Node* node) {
  return node != nullptr && node->_M_color == _S_red;
}

bool is_header(const Node* node) {
  return node->_M_color == _S_red && node->_M_parent != nullptr && node->_M_parent->_M_parent == node;
}

Node*& child(Node* node, bool on_left) {
  return on_left ? node->_M_left : node->_M_right;
}

// Replaces `old` by `with`, which may be nullptr, as a child of its parent.
void replace_below_parent(Node* old, Node* with, Node& header) {
  Node* const parent = old->_M_parent;
  if (header._M_parent == old)
    header._M_parent = with;
  else
    child(parent, parent->_M_left == old) = with;
  if (with != nullptr) with->_M_parent = parent;
}

// Rotates: the child of `node` on the side opposite to `to_left` takes the place of `node`, which becomes its child on
// the side of `to_left`.
void rotate(Node* node, bool to_left, Node& header) {
  Node* const riser = child(node, !to_left);
  Node* const middle = child(riser, to_left);
  replace_below_parent(node, riser, header);
  child(node, !to_left) = middle;
  if (middle != nullptr) middle->_M_parent = node;
  child(riser, to_left) = node;
  node->_M_parent = riser;
}

// Restores the tree's invariants. Precondition: `node` is red, maybe below a red parent, and that is the only
// violation.
void repair_red(Node* node, Node& header) {
  while (node != header._M_parent && is_red(node->_M_parent)) {
    Node* parent = node->_M_parent;
    Node* const grandparent = parent->_M_parent;  // there is one: the root is black
    const bool on_left = grandparent->_M_left == parent;
    Node* const uncle = child(grandparent, !on_left);
    if (is_red(uncle)) {
      parent->_M_color = uncle->_M_color = _S_black;
      grandparent->_M_color = _S_red;
      node = grandparent;
      continue;
    }
    if (node == child(parent, !on_left)) {
      rotate(parent, on_left, header);
      parent = node;
    }
    parent->_M_color = _S_black;
    grandparent->_M_color = _S_red;
    rotate(grandparent, !on_left, header);
    break;
  }
  header._M_parent->_M_color = _S_black;
}

// Restores the tree's invariants. Precondition: the paths through `node`, a child of `parent` that may be nullptr, have
// one black node too few.
void repair_black(Node* node, Node* parent, Node& header) {
  while (node != header._M_parent && !is_red(node)) {
    const bool on_left = parent->_M_left == node;
    Node* sibling = child(parent, !on_left);  // exists: its paths have one more black node
    if (is_red(sibling)) {
      sibling->_M_color = _S_black;
      parent->_M_color = _S_red;
      rotate(parent, on_left, header);
      sibling = child(parent, !on_left);
    }
    if (!is_red(sibling->_M_left) && !is_red(sibling->_M_right)) {
      sibling->_M_color = _S_red;
      node = parent;
      parent = parent->_M_parent;
      continue;
    }
    if (!is_red(child(sibling, !on_left))) {
      child(sibling, on_left)->_M_color = _S_black;
      sibling->_M_color = _S_red;
      rotate(sibling, !on_left, header);
      sibling = child(parent, !on_left);
    }
    sibling->_M_color = parent->_M_color;
    parent->_M_color = _S_black;
    child(sibling, !on_left)->_M_color = _S_black;
    rotate(parent, on_left, header);
    return;
  }
  if (node != nullptr) node->_M_color = _S_black;
}

Node* next_of(Node* node) {
  if (node->_M_right != nullptr) return Node::_S_minimum(node->_M_right);
  Node* parent = node->_M_parent;
  while (node == parent->_M_right) {
    node = parent;
    parent = parent->_M_parent;
  }
  // If the last node is the root, the walk goes on from the header to the root. The result is the header all the same.
  return node->_M_right == parent ? node : parent;
}

Node* previous_of(Node* node) {
  if (is_header(node)) return node->_M_right;
  if (node->_M_left != nullptr) return Node::_S_maximum(node->_M_left);
  Node* parent = node->_M_parent;
  while (node == parent->_M_left) {
    node = parent;
    parent = parent->_M_parent;
  }
  return parent;
}

}  // namespace

#define WEAK [[gnu::weak]]

WEAK Node* _Rb_tree_increment(Node* node) noexcept {
  return next_of(node);
}
WEAK const Node* _Rb_tree_increment(const Node* node) noexcept {
  return next_of(const_cast<Node*>(node));
}
WEAK Node* _Rb_tree_decrement(Node* node) noexcept {
  return previous_of(node);
}
WEAK const Node* _Rb_tree_decrement(const Node* node) noexcept {
  return previous_of(const_cast<Node*>(node));
}

// Inserts `node` below `parent`, which is the header if the tree is empty.
WEAK void _Rb_tree_insert_and_rebalance(const bool on_left, Node* node, Node* parent, Node& header) noexcept {
  node->_M_parent = parent;
  node->_M_left = node->_M_right = nullptr;
  node->_M_color = _S_red;
  if (parent == &header) {
    header._M_parent = header._M_left = header._M_right = node;
  } else {
    child(parent, on_left) = node;
    if (on_left && parent == header._M_left) header._M_left = node;
    if (!on_left && parent == header._M_right) header._M_right = node;
  }
  repair_red(node, header);
}

// Removes `node` from the tree and returns it.
WEAK Node* _Rb_tree_rebalance_for_erase(Node* const node, Node& header) noexcept {
  if (header._M_left == node)
    header._M_left = node->_M_right != nullptr ? Node::_S_minimum(node->_M_right) : node->_M_parent;
  if (header._M_right == node)
    header._M_right = node->_M_left != nullptr ? Node::_S_maximum(node->_M_left) : node->_M_parent;

  if (node->_M_left != nullptr && node->_M_right != nullptr) {
    // The successor of `node`, which has no left child, changes places and colours with it.
    Node* const successor = Node::_S_minimum(node->_M_right);
    Node* const below = successor->_M_right;
    Node* parent = successor->_M_parent;
    if (parent == node) {
      parent = successor;
    } else {
      replace_below_parent(successor, below, header);
      successor->_M_right = node->_M_right;
      successor->_M_right->_M_parent = successor;
    }
    replace_below_parent(node, successor, header);
    successor->_M_left = node->_M_left;
    successor->_M_left->_M_parent = successor;
    std::swap(successor->_M_color, node->_M_color);
    if (node->_M_color == _S_black) repair_black(below, parent, header);
    return node;
  }
  Node* const below = node->_M_left != nullptr ? node->_M_left : node->_M_right;
  replace_below_parent(node, below, header);
  if (node->_M_color == _S_black) repair_black(below, node->_M_parent, header);
  return node;
}

}  // namespace std

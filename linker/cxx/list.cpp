// SPDX-License-Identifier: Apache-2.0
// list.cpp: the functions of the compiled C++ library that std::list calls. Nodes form a ring, whose end is a node in
// the list object.
#include <list>

#define WEAK [[gnu::weak]]

namespace std::__detail {

// Inserts this node in front of `position`.
WEAK void _List_node_base::_M_hook(_List_node_base* const position) noexcept {
  _M_next = position;
  _M_prev = position->_M_prev;
  _M_prev->_M_next = this;
  position->_M_prev = this;
}

WEAK void _List_node_base::_M_unhook() noexcept {
  _M_prev->_M_next = _M_next;
  _M_next->_M_prev = _M_prev;
}

// Moves the nodes from `first` up to but not including `end`, maybe of another list, in front of this node.
WEAK void _List_node_base::_M_transfer(_List_node_base* const first, _List_node_base* const end) noexcept {
  if (this == end || first == end) return;
  _List_node_base* const last = end->_M_prev;
  first->_M_prev->_M_next = end;
  end->_M_prev = first->_M_prev;

  first->_M_prev = _M_prev;
  first->_M_prev->_M_next = first;
  last->_M_next = this;
  _M_prev = last;
}

WEAK void _List_node_base::_M_reverse() noexcept {
  _List_node_base* node = this;
  do {
    _List_node_base* const next = node->_M_next;
    node->_M_next = node->_M_prev;
    node->_M_prev = next;
    node = next;
  } while (node != this);
}

// Swaps two lists, given by their end nodes.
WEAK void _List_node_base::swap(_List_node_base& one, _List_node_base& other) noexcept {
  _List_node_base before_one;
  before_one._M_hook(one._M_next);
  one._M_unhook();  // the nodes of `one` are now in the ring of before_one
  if (other._M_next != &other) {
    one._M_hook(other._M_next);
    other._M_unhook();
  } else {
    one._M_next = one._M_prev = &one;
  }
  if (before_one._M_next != &before_one) {
    other._M_hook(before_one._M_next);
    before_one._M_unhook();
  } else {
    other._M_next = other._M_prev = &other;
  }
}

}  // namespace std::__detail

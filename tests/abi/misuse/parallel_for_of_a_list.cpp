// SPDX-License-Identifier: Apache-2.0
// REFUSED: the range needs random access
#include <janus/rt.hpp>
struct List {
  struct Iterator {
    int operator*() const;
    Iterator& operator++();
  };
  Iterator begin() const;
  Iterator end() const;
};
void test(List& list) {
  (void)janus::parallel_for(list, [](int) {});
}

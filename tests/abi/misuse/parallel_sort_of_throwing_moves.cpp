// SPDX-License-Identifier: Apache-2.0
// REFUSED: which must be noexcept
#include <janus/rt.hpp>
struct Throws {
  Throws(Throws&&);
  Throws& operator=(Throws&&);
  bool operator<(const Throws&) const;
};
void test(Throws (&things)[3]) {
  (void)janus::parallel_sort(things);
}

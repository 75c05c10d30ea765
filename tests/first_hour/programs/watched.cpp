// SPDX-License-Identifier: Apache-2.0
// watched.cpp — what C++ does implicitly, in order: constructors of globals, function-local statics that many tasks
// need at once and whose initialisation yields, containers, and destructors at the end.
#include <janus/rt.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

std::vector<std::string> global = {"a", "b"};

struct Slow {
  Slow() {
    for (int i = 0; i < 20; ++i) janus_yield();
    values.assign(10, 7);
  }
  std::vector<int> values;
};

int from_static() {
  static Slow slow;
  return slow.values[3];
}

std::int64_t use(void*) {
  auto mine = std::make_unique<std::vector<int>>(100, from_static());
  janus_yield();
  return (*mine)[99];
}

}  // namespace

int main() {
  for (int round = 0; round < 5; ++round) {
    janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
    for (int i = 0; i < 20; ++i) janus_nursery_spawn_in(nursery, use, nullptr, nullptr);
    if (janus_nursery_await(nursery, nullptr) != 0) return 1;
    janus_nursery_destroy(nursery);
  }
  global.push_back("c");
  std::puts(global.size() == 3 ? "done" : "wrong");
}

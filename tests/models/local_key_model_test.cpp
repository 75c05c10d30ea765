// SPDX-License-Identifier: Apache-2.0
// local_key_model_test.cpp — every interleaving of rt/task/account/local_key.h: a task that ends reads the destructor of
// its key while that key is deleted and others get its place. It never finds the destructor of another key.
#include "rt/task/account/local_key.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::model::Fences;
using janus::model::require;

void destroy_first(void*) {}
void destroy_second(void*) {}
void destroy_third(void*) {}
constexpr janus::LocalKey::Destroy kDestructors[] = {destroy_first, destroy_second, destroy_third};

// Thread 0 gives the place to one key after the other, from the second on. Each other thread looks one of the keys up.
struct LocalKeyWorld {
  unsigned keys;
  unsigned readers;
  janus::LocalKey place{};

  unsigned threads() const { return 1 + readers; }
  void begin() { place.publish(1, kDestructors[0]); }
  void run(unsigned thread) {
    if (thread != 0) {
      const auto destroy = place.destructor_of(thread);
      require(destroy == nullptr || destroy == kDestructors[thread - 1], "a key has no destructor but its own");
      return;
    }
    for (unsigned key = 2; key <= keys; ++key) {
      place.clear();
      place.publish(key, kDestructors[key - 1]);
    }
  }
  void end() {
    require(place.key() == keys && place.destructor_of(keys) == kDestructors[keys - 1], "the last key has its own");
    require(place.destructor_of(keys - 1) == nullptr, "an earlier one has none");
  }
};

bool goes_well(const char* name, unsigned keys, unsigned readers) {
  return janus::model::goes_well<LocalKeyWorld>(name, Fences::kHeavy, keys, readers);
}

TEST(local_key_model, one_who_reads_while_the_place_gets_another_key) {
  REQUIRE(goes_well("one other key", 2, 1));
  REQUIRE(goes_well("two other keys", 3, 1));
}

TEST(local_key_model, two_who_look_for_different_keys) {
  REQUIRE(goes_well("one other key", 2, 2));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// tests/models/explorer.h — explores every order of the steps of a few threads that run the runtime's own code on a
// machine with store buffers (machine.h). Each thread is a fiber; a state is the memory of the world, the live part of
// each stack, the saved registers and the store buffers, and each state is continued only once. So a program whose
// threads end is explored in full. docs/decisions/0148
//
// A world is a struct with
//   unsigned threads() const     at most kMaxThreads
//   void begin()                 before the threads
//   void run(unsigned thread)
//   void end()                   after all of them, with empty store buffers
// and states claims with require(), at any place. It owns all memory that its threads share; data that is not atomic
// must be guarded by atomics. A thread that can never continue is a mistake, too.
#pragma once

#include <cstddef>
#include <new>

#include "tests/models/machine.h"

namespace janus::model {

inline constexpr unsigned kMaxThreads = 4;

// Whether the machine has platform::heavy_fence(); or does not delay stores at all, so that fences have no effect, for
// protocols whose fences have a model of their own.
enum class Fences : std::uint8_t { kHeavy, kOwn, kNoneNeeded };

// The functions of a world, for explore().
struct Actors {
  void* world;
  std::size_t bytes;
  unsigned threads;
  void (*begin)(void* world);
  void (*run)(void* world, unsigned thread);
  void (*end)(void* world);
};

// Memory for the world, the same each time, zeroed.
void* world_memory(std::size_t bytes);
// Whether all claims hold in every order. Prints the number of states, or the mistake and the order that led to it.
bool explore(const char* name, const Actors& actors, Fences fences);

template <class World, class... Arguments>
bool goes_well(const char* name, Fences fences, Arguments... arguments) {
  auto* const world = new (world_memory(sizeof(World))) World{arguments...};
  return explore(name,
                 {world, sizeof(World), world->threads(), [](void* it) { static_cast<World*>(it)->begin(); },
                  [](void* it, unsigned thread) { static_cast<World*>(it)->run(thread); },
                  [](void* it) { static_cast<World*>(it)->end(); }},
                 fences);
}

}  // namespace janus::model

// SPDX-License-Identifier: Apache-2.0
// tests/models/explorer.h — every order in which a few threads can go on that run the runtime's own code on a machine
// with store buffers (machine.h). Each thread is a fiber; a state is the memory of the world, the live part of each
// stack, the saved registers and the store buffers, and no state is gone on from twice. So a program whose threads come
// to an end is explored in full. docs/decisions/0148
//
// A world is a struct with
//   unsigned threads() const     at most kMaxThreads
//   void begin()                 before the threads
//   void run(unsigned thread)
//   void end()                   after all of them, with nothing left in a buffer
// and claims what must hold with require(), at any place. It owns all memory that its threads share; what is not atomic
// in it must be guarded by what is. It is a mistake, too, if a thread is left that can never go on.
#pragma once

#include <cstddef>
#include <new>

#include "tests/models/machine.h"

namespace janus::model {

inline constexpr unsigned kMaxThreads = 4;

// Whether the machine has platform::heavy_fence(); or stores are not delayed at all, so that no fence does anything, for
// protocols whose fences have a model of their own.
enum class Fences : std::uint8_t { kHeavy, kOwn, kNoneNeeded };

// What explore() needs to know of a world.
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
// Whether all goes well in every order. Says how many states there were, or what went wrong and in which order.
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

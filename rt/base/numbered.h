// SPDX-License-Identifier: Apache-2.0
// rt/base/numbered.h — an intrusive set of objects in the order of their numbers, each of which is greater than those
// before: a treap (Seidel and Aragon, 1996), whose priorities come from the numbers and a salt. No allocation. All
// operations take steps in proportion to the logarithm of the size, on average over the salts. docs/decisions/0337
#pragma once

#include <cstdint>

#include "rt/base/rng.h"

namespace janus {

// Base class of the objects.
struct Numbered {
  std::uint64_t number;
  Numbered* lower;   // what is below it in the tree, with lower numbers ...
  Numbered* higher;  // ... and with higher ones
};

// Not thread-safe. T derives from Numbered. All zero bytes are an empty set.
template <typename T>
class NumberedSet {
 public:
  // Called while the set is empty. Who does not know the salt cannot choose objects that make the tree deep.
  void salt(std::uint64_t salt) noexcept { salt_ = salt; }

  [[nodiscard]] bool is_empty() const noexcept { return root_ == nullptr; }

  // The object with the lowest number above `number`; nullptr: there is none.
  [[nodiscard]] T* after(std::uint64_t number) const noexcept {
    Numbered* best = nullptr;
    for (Numbered* at = root_; at != nullptr;) {
      if (at->number > number) best = at;
      at = at->number > number ? at->lower : at->higher;
    }
    return static_cast<T*>(best);
  }
  // The object with the highest number below `number`; nullptr: there is none.
  [[nodiscard]] T* before(std::uint64_t number) const noexcept {
    Numbered* best = nullptr;
    for (Numbered* at = root_; at != nullptr;) {
      if (at->number < number) best = at;
      at = at->number < number ? at->higher : at->lower;
    }
    return static_cast<T*>(best);
  }
  [[nodiscard]] T* find(std::uint64_t number) const noexcept {
    Numbered* at = root_;
    while (at != nullptr && at->number != number) at = at->number > number ? at->lower : at->higher;
    return static_cast<T*>(at);
  }

  // Adds the object. Precondition: its number is higher than all others.
  void add_last(T& object) noexcept {
    const std::uint64_t priority = priority_of(object.number);
    Numbered** place = &root_;
    while (*place != nullptr && priority_of((*place)->number) >= priority) place = &(*place)->higher;
    object.lower = *place;
    object.higher = nullptr;
    *place = &object;
  }

  // Removes the object, which is in the set.
  void remove(T& object) noexcept {
    Numbered** place = &root_;
    while (*place != &object) place = (*place)->number > object.number ? &(*place)->lower : &(*place)->higher;
    Numbered* lower = object.lower;
    Numbered* higher = object.higher;
    while (lower != nullptr && higher != nullptr) {
      if (priority_of(lower->number) > priority_of(higher->number)) {
        *place = lower;
        place = &lower->higher;
        lower = lower->higher;
      } else {
        *place = higher;
        place = &higher->lower;
        higher = higher->lower;
      }
    }
    *place = lower != nullptr ? lower : higher;
  }

 private:
  [[nodiscard]] std::uint64_t priority_of(std::uint64_t number) const noexcept {
    std::uint64_t state = number ^ salt_;
    return splitmix64(state);
  }

  Numbered* root_ = nullptr;
  std::uint64_t salt_ = 0;
};

}  // namespace janus

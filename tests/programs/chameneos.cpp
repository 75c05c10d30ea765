// SPDX-License-Identifier: Apache-2.0
// chameneos [SIZE]: creatures of three colours meet SIZE times, two at a time, at a place with a std::mutex and a
// std::condition_variable; after a meeting both have the colour that complements theirs (Kaiser and Pradat-Peyre 2003). Prints how often
// all of them have met, and whether any has met itself.
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <janus/rt.hpp>

#include "size.h"

namespace {

enum class Colour { kBlue, kRed, kYellow };

constexpr Colour complement(Colour a, Colour b) {
  return a == b ? a : static_cast<Colour>(3 - static_cast<int>(a) - static_cast<int>(b));
}
static_assert(complement(Colour::kBlue, Colour::kRed) == Colour::kYellow);

struct Creature {
  Colour colour;
  long met = 0, met_itself = 0;
};

class Place {
 public:
  explicit Place(long meetings) : left_(meetings) {}

  // Waits for another creature; false: there are no more meetings.
  bool meet(Creature& self) {
    std::unique_lock lock(mutex_);
    if (left_ == 0) return false;
    if (waiting_ == nullptr) {
      waiting_ = &self;
      const long meeting = left_;
      changed_.wait(lock, [&] { return left_ < meeting; });
    } else {
      const Colour both = complement(self.colour, waiting_->colour);
      for (Creature* one : {&self, waiting_}) one->colour = both, one->met++;
      self.met_itself += waiting_ == &self;
      waiting_ = nullptr;
      left_--;
      changed_.notify_all();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Creature* waiting_ = nullptr;
  long left_;
};

}  // namespace

int main(int argc, char** argv) {
  const long size = size_argument(argc, argv, 10000, 100000000);
  std::array<Creature, 6> creatures{
      {{Colour::kBlue}, {Colour::kRed}, {Colour::kYellow}, {Colour::kRed}, {Colour::kYellow}, {Colour::kBlue}}};
  Place place(size);
  {
    janus::Nursery nursery;
    for (Creature& one : creatures)
      (void)nursery.spawn([&] {
        while (place.meet(one)) {
        }
      });
  }
  long met = 0, met_itself = 0;
  for (const Creature& one : creatures) met += one.met, met_itself += one.met_itself;
  janus_print(1, "%ld creatures in %ld meetings, %ld met themselves\n", met, size, met_itself);
  return met != 2 * size || met_itself != 0;
}

// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/restarts.h — how often children may be started again, and how long that waits.
#pragma once

#include <cstdint>

namespace janus {

// When something happened: the ops that the tasks of the runtime had spent (0 if nobody asks), and the time.
struct Moment {
  std::uint64_t ops, ns;
};

struct RestartLimit {
  static constexpr std::uint32_t kAny = UINT32_MAX, kMost = 4096;

  std::uint32_t most;        // kAny: any number; else at most kMost
  std::uint64_t within_ops;  // a restart counts while both have not passed; 0: this never passes
  std::uint64_t within_ns;

  [[nodiscard]] std::uint32_t places() const noexcept { return most != kAny ? most : 0; }
  // Whether it matters how many ops were spent between restarts.
  [[nodiscard]] bool asks_ops() const noexcept { return places() != 0 && within_ops != 0; }
  [[nodiscard]] bool is_recent(const Moment& restart, const Moment& now) const noexcept {
    return (within_ops == 0 || now.ops - restart.ops <= within_ops) &&
           (within_ns == 0 || now.ns - restart.ns <= within_ns);
  }
};

// The last restarts, in a ring.
class Restarts {
 public:
  // `ring` has limit.places().
  void init(Moment* ring) noexcept { ring_ = ring; }
  void forget() noexcept { count_ = 0; }
  // Notes one more, unless there have been too many (false).
  [[nodiscard]] bool note(const RestartLimit& limit, const Moment& now) noexcept {
    if (limit.most == RestartLimit::kAny) return true;
    if (limit.most == 0) return false;
    Moment& oldest = ring_[count_ % limit.most];
    if (count_ >= limit.most && limit.is_recent(oldest, now)) return false;
    oldest = now;
    ++count_;
    return true;
  }

 private:
  Moment* ring_ = nullptr;
  std::uint64_t count_ = 0;
};

// The delays of a child that dies again and again: none, then `min_ns`, and twice as long each time up to `max_ns`.
struct Backoff {
  static constexpr unsigned kLevels = 64;  // of a child: how often it has died soon
  static constexpr std::uint64_t kMinNs = 1'000'000, kMaxNs = 1'000'000'000;

  std::uint64_t min_ns;
  std::uint64_t max_ns;  // 0: there are no delays

  // What users give: 0 and 0 are none; one of them 0: the usual one, so far as the other allows.
  static Backoff of(std::uint64_t min_ns, std::uint64_t max_ns) noexcept {
    if (min_ns == 0 && max_ns == 0) return {0, 0};
    if (min_ns == 0) min_ns = kMinNs < max_ns ? kMinNs : max_ns;
    if (max_ns == 0) max_ns = kMaxNs > min_ns ? kMaxNs : min_ns;
    return {min_ns, max_ns};
  }
  [[nodiscard]] bool is_valid() const noexcept { return min_ns <= max_ns; }

  [[nodiscard]] std::uint64_t delay_at(unsigned level) const noexcept {
    if (level == 0 || max_ns == 0) return 0;
    const bool is_longest = level - 1 >= 63 || min_ns > max_ns >> (level - 1);
    return is_longest ? max_ns : min_ns << (level - 1);
  }
  // The next level of a child that has lived for `lived_ns`. Levels beyond the longest delay are all alike.
  [[nodiscard]] unsigned next(unsigned level) const noexcept {
    return level + 1 < kLevels && delay_at(level) < max_ns ? level + 1 : level;
  }
  [[nodiscard]] bool begins_anew(std::uint64_t lived_ns) const noexcept { return max_ns == 0 || lived_ns >= max_ns; }
};

}  // namespace janus

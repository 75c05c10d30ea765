// SPDX-License-Identifier: Apache-2.0
// rt/base/account_cache.h — a worker's chunk of the root account's memory: drawn ahead, so that charging a block
// touches no line that others write. Whoever finds the account dry calls all chunks back first.
#pragma once

#include <atomic>
#include <cstdint>

namespace janus {

inline constexpr unsigned kAccountLine = 64;

// All-zero bytes are a valid cache. One worker draws and credits through it; any thread may call its chunk back.
class alignas(kAccountLine) AccountCache {
 private:
  friend class Accounts;

  std::atomic<std::uint64_t> chunk_;  // drawn from the root account, charged to nothing yet
  std::atomic<std::uint64_t> aim_;    // the chunk's size when last filled; 0: do not keep credits, memory is scarce
  AccountCache* next_;                // set once, by the first register_cache()
  bool is_listed_;
  bool is_registered_;
};

}  // namespace janus

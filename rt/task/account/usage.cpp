// SPDX-License-Identifier: Apache-2.0
#include "rt/task/account/usage.h"

#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// The children, counted in two places (rt/task/record/nursery.h). Of a private nursery another worker may read a count
// that is changing, so this one word is read without a rule of order.
__attribute__((noinline, no_sanitize("thread"))) std::uint64_t count_children(const Nursery& nursery) noexcept {
  const std::uint64_t word = nursery.word.load(std::memory_order_acquire);
  const std::int64_t local = (word & NurseryWord::kShared) == 0 ? nursery.local_count : 0;
  const std::int64_t count = static_cast<std::int64_t>(word) / static_cast<std::int64_t>(NurseryWord::kChild) + local;
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

}  // namespace

Usage usage_of(const Worker* worker, const Nursery& nursery) noexcept {
  Runtime& runtime = *nursery.runtime;
  Account* const account = nursery.account;
  Usage usage;
  {
    LockGuard guard(runtime.accounts.queue(account).lock);
    usage.books = runtime.accounts.books(account);
  }
  Books& books = usage.books;
  // The rest of the caller's slice is not spent.
  if (worker != nullptr && worker->charged_account == account) {
    const std::uint64_t rest = rest_of_slice(*worker);
    const std::uint64_t back = rest < books.spent[Component::kOps] ? rest : books.spent[Component::kOps];
    books.spent[Component::kOps] -= back;
    books.left[Component::kOps] += back;
  }
  usage.peak = books.spent;
  usage.peak[Component::kMemory] = books.most_held;
  usage.longest_hold_ns = runtime.scheduler.dispatcher().longest_turn(account->index());
  usage.times_dry = books.times_dry;
  usage.tasks = count_children(nursery);
  return usage;
}

}  // namespace janus

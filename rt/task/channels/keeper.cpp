// SPDX-License-Identifier: Apache-2.0
#include "rt/task/channels/keeper.h"

#include "rt/budget/keeping.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/account/keepers.h"
#include "rt/task/channels/channel_hold.h"
#include "rt/task/channels/transfer.h"
#include "rt/task/nurseries/handle.h"

namespace janus {

namespace {

Channel& channel_of(Runtime& runtime, std::uint64_t keeper) noexcept {
  return *static_cast<Channel*>(runtime.channels.at(index_of_handle(keeper)));
}

// Returns the keeper if he has to be told of another component that has fallen below its mark, else 0.
[[gnu::noinline]] std::uint64_t next_fallen(Runtime& runtime, Account* account, KeepMessage& message) noexcept {
  LockGuard guard(runtime.accounts.queue(account).lock);
  const std::uint64_t keeper = Keeping::keeper(account);
  if (keeper == 0) return 0;
  for (; message.component < kComponents; ++message.component) {
    const Component component = component_at(static_cast<unsigned>(message.component));
    if (!Keeping::take_fallen(account, component)) continue;
    message.left = runtime.accounts.left_in_all(account, component);
    return keeper;
  }
  return 0;
}

void tell_fallen(Runtime& runtime, Worker* worker, Account* account) noexcept {
  KeepMessage message{};
  for (std::uint64_t keeper; (keeper = next_fallen(runtime, account, message)) != 0; ++message.component)
    (void)post(worker, channel_of(runtime, keeper), &message, secret_of_handle(keeper));
}

// Returns the keeper if he has to be told that a task waits for message.component, else 0; from now on he knows.
[[gnu::noinline]] std::uint64_t begin_to_tell(const Task& task, KeepMessage& message) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  Account* const account = task.nursery->account;
  const Component component = component_at(static_cast<unsigned>(message.component));
  AccountQueue& queue = runtime.accounts.queue(account);
  LockGuard guard(queue.lock);
  const std::uint64_t keeper = Keeping::keeper(account);
  if (keeper == 0 || Keeping::knows_of_wait(account, component)) return 0;
  Keeping::set_knows_of_wait(account, component, true);
  message.left = runtime.accounts.left_in_all(account, component);
  message.waiting = 1;
  const auto& waits = queue.waits[static_cast<unsigned>(component)];
  for (const AccountWait* each = waits.front(); each != nullptr; each = waits.after(const_cast<AccountWait*>(each)))
    ++message.waiting;
  return keeper;
}

// A task that cannot wait for room any longer: another one has to tell the keeper.
[[gnu::noinline]] void leave_to_others(const Task& task, Component component) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  Account* const account = task.nursery->account;
  {
    LockGuard guard(runtime.accounts.queue(account).lock);
    Keeping::set_knows_of_wait(account, component, false);
  }
  serve_exhausted(runtime, &current_worker(), account);
}

bool tell_of_wait(Task& task, Component component) noexcept {
  KeepMessage message{static_cast<std::uint64_t>(component), 0, 0};
  const std::uint64_t keeper = begin_to_tell(task, message);
  if (keeper == 0) return true;
  int answer;
  do {
    answer = post_or_wait(task, channel_of(*task.nursery->runtime, keeper), &message, secret_of_handle(keeper));
  } while (answer == kTryAgain);
  // Of a channel that is closed or gone nobody is the keeper any more.
  if (answer == 0 || answer == kErrorClosed || answer == kErrorStale) return true;
  leave_to_others(task, component_at(static_cast<unsigned>(message.component)));
  return false;
}

bool is_living(Runtime& runtime, std::uint64_t keeper) noexcept {
  Channel& channel = channel_of(runtime, keeper);
  if (!channel.is_alive(secret_of_handle(keeper))) return false;
  ChannelHold hold(worker_of(runtime), channel);
  return channel.is_alive(secret_of_handle(keeper)) && channel.state == ChannelState::kOpen;
}

constinit const Keepers kKeepers = {tell_fallen, tell_of_wait, is_living};

}  // namespace

void keep(Worker* worker, Nursery& nursery, std::uint64_t channel, const Amounts& low) noexcept {
  Runtime& runtime = *nursery.runtime;
  Account* const account = nursery.account;
  runtime.keepers.store(&kKeepers, std::memory_order_release);
  {
    LockGuard guard(runtime.accounts.queue(account).lock);
    Keeping::set(runtime.accounts, account, channel, low);
  }
  tell_fallen(runtime, worker, account);
  serve_exhausted(runtime, worker, account);  // tasks that wait already are news to the keeper
}

}  // namespace janus

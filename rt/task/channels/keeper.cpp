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

void tell_fallen(Runtime& runtime, Worker* worker, Account* account) noexcept {
  KeepMessage messages[kComponents];
  unsigned count = 0;
  std::uint64_t keeper = 0;
  {
    LockGuard guard(runtime.accounts.queue(account).lock);
    keeper = Keeping::keeper(account);
    const std::uint8_t fallen = keeper != 0 ? Keeping::take_fallen(account) : std::uint8_t{0};
    for (unsigned i = 0; i < kComponents; ++i) {
      const Component component = component_at(i);
      if ((fallen & bit_of(component)) != 0)
        messages[count++] = {i, runtime.accounts.left_in_all(account, component), 0};
    }
  }
  for (unsigned i = 0; i < count; ++i)
    (void)send<Path::kGeneral>(worker, nullptr, channel_of(runtime, keeper), &messages[i], secret_of_handle(keeper));
}

bool tell_of_wait(Task& task, Account* account, Component component) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  AccountQueue& queue = runtime.accounts.queue(account);
  KeepMessage message{static_cast<std::uint64_t>(component), 0, 1};
  std::uint64_t keeper = 0;
  {
    LockGuard guard(queue.lock);
    keeper = Keeping::keeper(account);
    if (keeper == 0 || Keeping::knows_of_wait(account, component)) return true;
    Keeping::set_knows_of_wait(account, component, true);
    message.left = runtime.accounts.left_in_all(account, component);
    const auto& waits = queue.waits[static_cast<unsigned>(component)];
    for (const AccountWait* each = waits.front(); each != nullptr; each = waits.after(const_cast<AccountWait*>(each)))
      ++message.waiting;
  }
  const int answer =
      send<Path::kGeneral>(&current_worker(), &task, channel_of(runtime, keeper), &message, secret_of_handle(keeper));
  if (answer == 0 || answer == kErrorClosed || answer == kErrorStale) return true;
  // This task cannot wait for room any longer: another one has to.
  {
    LockGuard guard(queue.lock);
    Keeping::set_knows_of_wait(account, component, false);
  }
  serve_exhausted(runtime, &current_worker(), account);
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

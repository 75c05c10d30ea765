// SPDX-License-Identifier: Apache-2.0
// rt/task/run/watch.cpp — see watch.h. A watch stands among the task's joiners. It holds no reference to the channel, which
// may end before the task does: its record stays a channel's record, and the secret of its handle tells.
#include "rt/task/run/watch.h"

#include <new>

#include "rt/base/order_hooks.h"
#include "rt/task/account/memory.h"
#include "rt/task/channels/transfer.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/record/runtime.h"

namespace janus {

namespace {

struct TaskWatch : Join {
  Channel* channel;
  std::uint32_t secret;
  ResultWords message;
};

// A message that finds no room is lost.
int send_now(Worker& worker, Channel& channel, std::uint32_t secret, const ResultWords& message) noexcept {
  order_hooks::release(&channel);
  return send<Path::kGeneral>(&worker, nullptr, channel, &message, secret);
}

}  // namespace

Join* make_watch(Task& self, int& error) noexcept {
  const OrError<void*> block = allocate_own(*self.nursery->runtime, &current_worker(), &self, sizeof(TaskWatch));
  error = block.error;
  return block ? new (block.value) TaskWatch{} : nullptr;
}

void free_watch(Join* watch) noexcept {
  Worker& worker = current_worker();
  release_own(runtime_of(worker), &worker, watch);
}

int watch_locked(Task& task, Channel& channel, std::uint32_t secret, Join* made) noexcept {
  auto& watch = static_cast<TaskWatch&>(*made);
  if (task.has(TaskFlags::kEnded)) {
    order_hooks::acquire(order_hooks::second(&task));
    const ResultWords message = words_of(report_of(task));
    task.lock.unlock();
    free_watch(made);
    return send_now(current_worker(), channel, secret, message);
  }
  watch.is_watch = true;
  watch.channel = &channel;
  watch.secret = secret;
  link_join(task, watch);
  task.lock.unlock();
  return 0;
}

Join* take_watches(Task& task) noexcept {
  Join* taken = nullptr;
  for (Join* join = task.waiters; join != nullptr;) {
    Join* const next = join->next;
    if (join->is_watch) {
      unlink_join(task, *join);
      static_cast<TaskWatch*>(join)->message = words_of(report_of(task));
      join->next = taken;
      taken = join;
    }
    join = next;
  }
  return taken;
}

void tell_watches(Worker& worker, Join* watches) noexcept {
  while (watches != nullptr) {
    auto& watch = static_cast<TaskWatch&>(*watches);
    watches = watch.next;
    (void)send_now(worker, *watch.channel, watch.secret, watch.message);
    free_watch(&watch);
  }
}

}  // namespace janus

// SPDX-License-Identifier: Apache-2.0
// rt/abi/select.cpp — waiting for one of several channels. Apart from channel.cpp, so that programs that do not select are
// linked without it and without timers.
#include "rt/task/channels/select.h"
#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/limit.h"
#include "rt/task/account/memory.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"

using namespace janus;

namespace {

struct Case {
  std::uint64_t channel, data;
  std::uint64_t op;  // the op, below the status that was there
};
static_assert(sizeof(janus_select_case) == sizeof(Case) && offsetof(janus_select_case, op) == offsetof(Case, op) &&
              offsetof(janus_select_case, status) == offsetof(Case, op) + 4);

// Reads a case, and writes its status, 0, so that memory that cannot be written is found before an element is taken.
// False: the memory cannot be accessed.
bool read_case(Case& to, janus_select_case* from) noexcept {
  if (!arch::load_user(&from->channel, to.channel) || !arch::load_user(&from->data, to.data) ||
      !arch::load_user(&from->op, to.op))
    return false;
  to.op = static_cast<std::uint32_t>(to.op);
  return arch::store_user(&from->op, to.op);
}

// Adds the user's cases. 0 or an error; a task that points to bad memory panics.
[[gnu::noinline]] int add_cases(const Caller& me, Select& select, janus_select_case* cases,
                                std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    Case one = {};
    if (!read_case(one, &cases[i])) [[unlikely]] {
      select.release();
      blame_caller();
    }
    if (one.op != JANUS_SEND && one.op != JANUS_RECV) return JANUS_E_INVALID;
    if (one.channel == 0) continue;
    auto* const named = reinterpret_cast<janus_channel*>(one.channel);
    Channel* channel = channel_at_once(*me.worker, named);
    if (channel == nullptr) {
      const OrError<Channel*> found = find_channel(me, named);
      if (found.error == kNoHandle) {
        select.release();
        (void)refuse_handle(me, "channel", one.channel);
      }
      if (!found) return found.error;
      channel = found.value;
      if (channel->runtime == me.worker->runtime) me.worker->channels_found.keep(one.channel, channel);
    }
    if (one.data == 0 && channel->element_bytes != 0) return JANUS_E_INVALID;
    select.add(*channel, secret_of_handle(one.channel), one.op == JANUS_SEND ? Direction::kSend : Direction::kReceive,
               reinterpret_cast<void*>(one.data), i);
  }
  return 0;
}

struct Call {
  janus_select_case* cases;
  std::uint32_t count;
  Limit limit;
  bool may_wait;  // false: it polls
};

int select_in(const Caller& me, const Call& call, SelectWait* waits, void* block) noexcept {
  Select select(*me.task, waits, block);
  int result = add_cases(me, select, call.cases, call.count);
  if (result != 0) return result;
  const Deadline deadline(*me.task, call.limit.at, call.limit.now_ns);
  int status = 0;
  result = select.run(call.may_wait, status);
  select.release();
  if (result >= 0 && status != 0) write_user(&call.cases[result].status, status);
  return result;
}

constexpr std::uint32_t kFew = 8;

// Functions of their own, so that the frame of few cases is not below an allocation.
[[gnu::noinline]] int select_few(const Caller& me, const Call& call) noexcept {
  SelectWait waits[kFew];
  return select_in(me, call, waits, nullptr);
}
[[gnu::noinline]] int select_many(const Caller& me, const Call& call) noexcept {
  const OrError<void*> block =
      allocate_own(runtime_of(*me.worker), me.worker, me.task, call.count * sizeof(SelectWait));
  if (!block) return block.error;
  return select_in({&current_worker(), me.task}, call, static_cast<SelectWait*>(block.value), block.value);
}

[[gnu::noinline]] int pay_for(Caller& me, const Call& call) noexcept {
  charge_more(me, call.count / price::kCasesPerOp);
  return pay_for_transfer(me, 0, call.may_wait);
}

int select(Caller me, janus_select_case* cases, std::size_t count, Limit limit, bool may_wait) noexcept {
  if (count > Select::kMaxCases || (cases == nullptr && count != 0)) return JANUS_E_INVALID;
  const Call call = {cases, static_cast<std::uint32_t>(count), limit, may_wait};
  int result = pay_for(me, call);
  if (result != 0) return result;
  result = count <= kFew ? select_few(me, call) : select_many(me, call);
  if (may_wait) (void)sees_cancel(*me.task);
  return result;
}

}  // namespace

extern "C" {

int janus_select(janus_select_case* cases, size_t count, int64_t timeout_ns) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return timeout_ns == 0 ? select(me, cases, count, {platform::kForever, 0}, false)
                         : select(me, cases, count, limit_after(me, timeout_ns), true);
}

int janus_select_until(janus_select_case* cases, size_t count, uint64_t deadline_ns) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return select(me, cases, count, {limit_at(deadline_ns), 0}, true);
}

}  // extern "C"

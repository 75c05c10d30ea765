// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/children.cpp — counts children, and closes and publishes nurseries.
#include "rt/task/wait/children.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

// Called by the thread whose change of the word ends the owner's wait.
[[gnu::noinline]] void wake_owner(Worker* worker, Nursery& nursery) noexcept {
  // The record may already serve another owner, which is then woken to check its condition; that does no harm.
  if (Task* const owner = nursery.owner.load(std::memory_order_relaxed)) {
    if (worker != nullptr) worker->scheduler->end_theft(*worker);
    (void)wake(worker, *owner, WaitReason::kChildren);
  } else {
    nursery.ended.fetch_add(1, std::memory_order_release);
    platform::wake(nursery.ended, 1u << 30);
  }
}

void count_out(Worker* worker, Nursery& nursery) noexcept {
  if (nursery.life().count_out()) wake_owner(worker, nursery);
}

}  // namespace

NurseryRef::NurseryRef(const Worker* worker, Nursery& nursery) noexcept : nursery_(nursery) {
  if (worker != nullptr && is_at_home(nursery, *worker)) return;
  is_announced_ = is_valid_ = nursery.life().visit();
}

template <Path kPath>
bool count_child_in(Worker* worker, Nursery& nursery) noexcept {
  if (kPath == Path::kGeneral && Nursery::is_closing(nursery.alive.load(std::memory_order_acquire))) return false;
  constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
  const std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if (kPath == Path::kFast || (worker != nullptr && is_at_home(nursery, *worker))) {
    if ((word & kShut) != 0) [[unlikely]]
      return false;
    ++nursery.local_count;
    return true;
  }
  const NurseryRef ref(worker, nursery);
  return ref.is_valid() && nursery.life().count_in(word);
}
template bool count_child_in<Path::kGeneral>(Worker* worker, Nursery& nursery) noexcept;
template bool count_child_in<Path::kFast>(Worker* worker, Nursery& nursery) noexcept;

void leave_nursery(Worker& worker, Nursery& nursery) noexcept {
  if (is_at_home(nursery, worker)) [[likely]]
    --nursery.local_count;
  else
    count_out(&worker, nursery);
}

void leave_nursery_with_record(Worker& worker, Nursery& nursery) noexcept {
  if (is_at_home(nursery, worker))
    --nursery.local_count;
  else if (nursery.life().count_out<true>())
    wake_owner(&worker, nursery);
}

void count_child_out(Worker* worker, Nursery& nursery) noexcept {
  worker != nullptr ? leave_nursery(*worker, nursery) : count_out(nullptr, nursery);
}

void release_pin(Worker* worker, Nursery& nursery) noexcept {
  count_out(worker, nursery);
}

// On the home worker only.
std::uint64_t publish_count(Nursery& nursery, std::uint64_t flags) noexcept {
  JANUS_ASSERT(nursery.owner_worker.load(std::memory_order_relaxed) == &current_worker());
  JANUS_ASSERT((nursery.word.load(std::memory_order_relaxed) & NurseryWord::kShared) == 0);
  const std::int64_t children = nursery.local_count;
  nursery.owner_worker.store(nullptr, std::memory_order_relaxed);
  nursery.local_count = 0;
  return nursery.life().share(children, flags);
}

// Oldest first, so that the list has them in the order in which they were opened.
[[gnu::noinline, gnu::cold]] void link_current(RunFrame& frame) noexcept {
  Nursery* oldest = nullptr;
  for (Nursery* n = frame.current; n != nullptr && !n->traits.is_linked; n = n->previous_current) {
    n->outer = oldest;
    oldest = n;
  }
  while (oldest != nullptr) {
    Nursery& nursery = *oldest;
    oldest = nursery.outer;
    nursery.traits.is_linked = true;
    link_nursery(frame.open, nursery);
  }
}

[[gnu::noinline, gnu::cold]] void publish_frames(RunFrame& frame) noexcept {
  for (RunFrame* f = &frame; f != nullptr && !f->task->is_published; f = f->outer_frame) {
    Task& task = *f->task;
    task.mark(TaskMarks::kHasMigrated);
    link_current(*f);
    LockGuard guard(task.nursery->lock);
    if (!task.has_migrated.load(std::memory_order_relaxed)) {
      task.nursery->migrated_tasks.push_back(&f->details);
      task.has_migrated.store(true, std::memory_order_relaxed);
    }
    if (Nursery* innermost = f->open) {
      Nursery* outermost = innermost;
      for (Nursery* n = innermost; n != nullptr; n = n->outer) {
        if (n->owner_worker.load(std::memory_order_relaxed) != nullptr) (void)publish_count(*n, 0);
        n->traits.is_published = true;
        outermost = n;
      }
      Nursery*& published = f->details.published;
      outermost->outer = published;
      if (published != nullptr) published->inner = outermost;
      published = innermost;
      f->open = nullptr;
    }
    task.is_published = true;
  }
}

[[gnu::noinline, gnu::cold]] void close_nursery(Worker* worker, Nursery& nursery) noexcept {
  const NurseryRef ref(worker, nursery);
  if (!ref.is_valid()) return;
  nursery.life().close();
}

// Does nothing on other workers: only the home worker may read `local_count`.
void flush_local_count(Worker* worker, Nursery& nursery) noexcept {
  if (worker == nullptr || !is_at_home(nursery, *worker)) return;
  const std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if ((word & (NurseryWord::kClosed | NurseryWord::kCancelled)) != 0) (void)publish_count(nursery, 0);
}

bool is_terminal(const Nursery& nursery) noexcept {
  return NurseryWord::is_terminal(nursery.word.load(std::memory_order_acquire));  // pairs with the last count_out
}

bool has_children(const Worker* worker, const Nursery& nursery) noexcept {
  const std::uint64_t word = nursery.word.load(std::memory_order_acquire);  // pairs with count_out()
  const std::int64_t elsewhere =
      static_cast<std::int64_t>(word & ~(NurseryWord::kChild - 1)) / std::int64_t{NurseryWord::kChild};
  const bool is_home = worker != nullptr && is_at_home(nursery, *worker);
  return elsewhere + (is_home ? nursery.local_count : 0) != 0;
}

NurseryState nursery_state(const Nursery& nursery) noexcept {
  const std::uint64_t word = nursery.word.load(std::memory_order_acquire);
  const bool cancelled = (word & NurseryWord::kCancelled) != 0;
  if (NurseryWord::is_terminal(word)) return cancelled ? NurseryState::kCancelled : NurseryState::kClosed;
  if (cancelled) return NurseryState::kCancelling;
  const bool closing =
      (word & NurseryWord::kClosed) != 0 || Nursery::is_closing(nursery.alive.load(std::memory_order_acquire));
  return closing ? NurseryState::kClosing : NurseryState::kOpen;
}

}  // namespace janus

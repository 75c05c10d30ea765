// SPDX-License-Identifier: Apache-2.0
// rt/abi/sync_rwlock.cpp — janus/sync.h: reader-writer locks.
#include "rt/abi/sync_calls.h"
#include "rt/task/sync/rwlock.h"

using namespace janus;

namespace {

int lock(janus_rwlock* lock, Access access) noexcept {
  return wait_at(lock, [&](Task& self, std::uint64_t* words) noexcept { return lock_rwlock(self, words, access); });
}

int try_lock(janus_rwlock* lock, Access access) noexcept {
  return take_at(lock, [&](Task& self, std::uint64_t* words) noexcept { return try_lock_rwlock(self, words, access); });
}

int unlock(janus_rwlock* lock, Access access) noexcept {
  return release_at(enter_free(), lock,
                    [&](Task& self, std::uint64_t* words) noexcept { return unlock_rwlock(self, words, access); });
}

}  // namespace

extern "C" {

int janus_rwlock_read_lock(janus_rwlock* rwlock) {
  return lock(rwlock, Access::kRead);
}

int janus_rwlock_write_lock(janus_rwlock* rwlock) {
  return lock(rwlock, Access::kWrite);
}

int janus_rwlock_try_read_lock(janus_rwlock* rwlock) {
  return try_lock(rwlock, Access::kRead);
}

int janus_rwlock_try_write_lock(janus_rwlock* rwlock) {
  return try_lock(rwlock, Access::kWrite);
}

int janus_rwlock_read_unlock(janus_rwlock* rwlock) {
  return unlock(rwlock, Access::kRead);
}

int janus_rwlock_write_unlock(janus_rwlock* rwlock) {
  return unlock(rwlock, Access::kWrite);
}

}  // extern "C"

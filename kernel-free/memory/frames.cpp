// SPDX-License-Identifier: Apache-2.0
// frames.cpp — freed frames are reused last in, first out; the frames themselves hold the list's links. Frames that
// were never taken are only ranges, so that boot touches none of them.
#include "kernel-free/memory/frames.h"

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/lock.h"

namespace janus::bare {

std::uint64_t g_direct_map = 0;

namespace {

constexpr std::uint64_t kFrameBytes = 4096, kKeptPart = 32;

Lock g_lock;  // protects all that follows
Frame g_given_back = 0;
Range g_fresh[MemoryMap::kMax];
std::size_t g_fresh_count = 0, g_fresh_at = 0;
std::uint64_t g_all = 0, g_taken = 0;

Frame take_given_back() {
  const Frame frame = g_given_back;
  if (frame != 0) g_given_back = *at_physical<Frame>(frame);
  return frame;
}

Frame take_fresh() {
  while (g_fresh_at < g_fresh_count && g_fresh[g_fresh_at].is_empty()) ++g_fresh_at;
  if (g_fresh_at == g_fresh_count) return 0;
  const Frame frame = g_fresh[g_fresh_at].begin;
  g_fresh[g_fresh_at].begin += kFrameBytes;
  return frame;
}

Frame take_any(LastFrames last) {
  LockGuard guard(g_lock);
  if (last == LastFrames::kLeave && g_all - g_taken <= g_all / kKeptPart) return 0;
  Frame frame = take_given_back();
  if (frame == 0) frame = take_fresh();
  if (frame != 0) ++g_taken;
  BARE_ASSERT(g_taken <= g_all && frame % kFrameBytes == 0);
  return frame;
}

}  // namespace

void give_all_frames(const MemoryMap& map) noexcept {
  BARE_ASSERT(g_all == 0);
  for (std::size_t n = 0; n < map.count(); ++n) g_fresh[g_fresh_count++] = map[n];
  g_all = map.bytes() / kFrameBytes;
}

Frame take_frame(LastFrames last) noexcept {
  const Frame frame = take_any(last);
  if (frame != 0) zero_words(at_physical<std::uint64_t>(frame), kFrameBytes / 8);
  return frame;
}

void give_frame(Frame frame) noexcept {
  BARE_ASSERT(frame != 0 && frame % kFrameBytes == 0);
  LockGuard guard(g_lock);
  BARE_ASSERT(g_taken != 0 && frame != g_given_back);
  *at_physical<Frame>(frame) = g_given_back;
  g_given_back = frame;
  --g_taken;
}

std::uint64_t frames_in_all() noexcept {
  return g_all;
}

std::uint64_t frames_taken() noexcept {
  LockGuard guard(g_lock);
  return g_taken;
}

}  // namespace janus::bare

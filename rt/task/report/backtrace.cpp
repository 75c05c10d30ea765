// SPDX-License-Identifier: Apache-2.0
// rt/task/report/backtrace.cpp — see backtrace.h.
#include "rt/task/report/backtrace.h"

#include <arch/jump_back.h>
#include <arch/user_copy.h>

#include "rt/task/report/runtime_text.h"

namespace janus {

namespace {

bool is_in_runtime(std::uint64_t ip) noexcept {
  return is_runtimes_text(reinterpret_cast<void (*)()>(ip));
}

void append_name(TextWriter& text, std::uint64_t ip, std::uint64_t inside) noexcept {
  constexpr std::size_t kShown = 80;
  if (platform::symbol_of == nullptr) return;
  const platform::Symbol symbol = platform::symbol_of(inside);
  if (symbol.name == nullptr || (symbol.name[0] == '_' && is_in_runtime(inside))) return;
  text.append(" <").append_escaped(symbol.name, kShown);
  const std::uint64_t offset = symbol.offset + (ip - inside);
  text.append(offset != 0 ? "+%#lx>" : ">", offset);
}

// janus_jump_back() links no frame of its own, so the frame at `place` belongs to the function that it called.
bool load_ip_past_jump_back(Place& place) noexcept {
  if (place.high - place.fp < arch::kJumpBackReturn + sizeof place.ip) return false;
  const auto* const at = reinterpret_cast<const void*>(place.fp + arch::kJumpBackReturn);
  return arch::load_user(at, place.ip) && place.ip != 0;
}

}  // namespace

bool Place::step() noexcept {
  if (fp < low || high < 16 || fp > high - 16 || fp % 8 != 0) return false;
  std::uint64_t outer = 0;
  if (!arch::load_user(reinterpret_cast<const void*>(fp), outer)) return false;
  if (!arch::load_user(reinterpret_cast<const void*>(fp + 8), ip) || ip == 0) return false;
  if (arch::is_in_jump_back(ip) && !load_ip_past_jump_back(*this)) return false;
  inside = ip - 1;
  if (outer <= fp) high = 0;
  fp = outer;
  return true;
}

Place place_on(const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept {
  if (stack == nullptr) return {ip, fp, 0, 0, ip};
  return {ip, fp, reinterpret_cast<std::uint64_t>(stack->limit), reinterpret_cast<std::uint64_t>(stack->start), ip};
}

void leave_runtime(Place& place) noexcept {
  Place outer = place;
  while (is_in_runtime(outer.ip))
    if (!outer.step()) return;
  place = outer;
}

void append_function(TextWriter& text, std::uint64_t address) noexcept {
  append_name(text, address, address);
}

void append_frames(TextWriter& text, Place place, unsigned most) noexcept {
  constexpr std::size_t kRoom = 120;     // bytes for one frame
  constexpr unsigned kStepsAFrame = 16;  // bounds the walk, whatever the stack contains
  text.append("janus:   at %#lx", place.ip);
  append_name(text, place.ip, place.inside);
  bool are_users = !is_in_runtime(place.ip);
  unsigned shown = 0;
  for (unsigned steps = most * kStepsAFrame; steps > 0 && shown < most && text.room() > kRoom && place.step();
       --steps) {
    const bool is_users = !is_in_runtime(place.ip);
    if (are_users && !is_users) continue;
    are_users = is_users;
    ++shown;
    text.append(" %#lx", place.ip);
    append_name(text, place.ip, place.inside);
  }
  text.end_line();
}

}  // namespace janus

// SPDX-License-Identifier: Apache-2.0
// rt/task/report/backtrace.cpp — see backtrace.h.
#include "rt/task/report/backtrace.h"

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

}  // namespace

bool Place::step() noexcept {
  if (fp < low || high < 16 || fp > high - 16 || fp % 8 != 0) return false;
  std::uint64_t outer = 0;
  if (!arch::load_user(reinterpret_cast<const void*>(fp), outer)) return false;
  if (!arch::load_user(reinterpret_cast<const void*>(fp + 8), ip) || ip == 0) return false;
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
  constexpr std::size_t kRoom = 120;  // of one frame
  text.append("janus:   at %#lx", place.ip);
  append_name(text, place.ip, place.inside);
  for (unsigned i = 0; i < most && text.room() > kRoom && place.step(); ++i) {
    text.append(" %#lx", place.ip);
    append_name(text, place.ip, place.inside);
  }
  text.end_line();
}

}  // namespace janus

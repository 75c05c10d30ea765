// SPDX-License-Identifier: Apache-2.0
// helper_text.h — what the definitions of helpers are written with: lines, labels, and the runtime's structures.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace janus::lower {

// janus_budget of janus/rt.h. The options that contain it are in task_helpers.cpp and nursery_helpers.cpp.
constexpr std::string_view kBudget = "{ i32, i64, i16, i16, i16 }";
constexpr std::string_view kBudgetParameters =
    "i32 %ops, i64 %memory, i16 %spawn_count, i16 %channel_ops, i16 %syscalls";
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBudgetFields = {
    {{"i32", "%ops"}, {"i64", "%memory"}, {"i16", "%spawn_count"}, {"i16", "%channel_ops"}, {"i16", "%syscalls"}}};

// The attributes of helpers that have the arguments or the result of a task in their frames, which may be large.
constexpr std::string_view kLargeFrame = " \"probe-stack\"=\"inline-asm\"";
constexpr std::string_view kOfTask = " \"janus-tenancy\"=\"CPU_Parallel\" \"probe-stack\"=\"inline-asm\"";

template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string result;
  result.reserve((std::string_view(parts).size() + ... + std::size_t{0}));
  (result.append(std::string_view(parts)), ...);
  return result;
}
// An empty body with memory for the text of most helpers.
inline std::string empty_body() {
  std::string body;
  body.reserve(1024);
  return body;
}
template <class... Parts>
void line(std::string& body, const Parts&... parts) {
  body += "  ";
  (body.append(std::string_view(parts)), ...);
  body += '\n';
}
inline void label(std::string& body, std::string_view name) {
  body += name;
  body += ":\n";
}

}  // namespace janus::lower

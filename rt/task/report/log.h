// SPDX-License-Identifier: Apache-2.0
// rt/task/report/log.h — the runtime's own messages, on descriptor 2. All lines together wait for a slow reader at most
// 20 ms, and a hundredth of the time after that. Lines that the reader has not taken by then are dropped and counted.
#pragma once

#include <cstddef>

namespace janus {

// Writes one line or several, each with its newline. Any thread, also in a fault handler.
void say(const char* lines, std::size_t size) noexcept;

}  // namespace janus

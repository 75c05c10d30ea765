// SPDX-License-Identifier: Apache-2.0
// rt/task/report/log.h — what the runtime itself has to say, on descriptor 2. For a reader that is slow all lines together wait
// 20 ms at most, and a hundredth of the time. What the reader has not taken by then is dropped and counted.
#pragma once

#include <cstddef>

namespace janus {

// Says one line or several, each with its newline. Any thread, also in a fault handler.
void say(const char* lines, std::size_t size) noexcept;

}  // namespace janus

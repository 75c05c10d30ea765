// SPDX-License-Identifier: Apache-2.0
// answer.h: from the runtime's answers to C's: -1 and errno.
#pragma once

#include <stdint.h>

// The result itself, or -1 with errno set.
__attribute__((__visibility__("hidden"))) long janus_c_answer(int64_t result);

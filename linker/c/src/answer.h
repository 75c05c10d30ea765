// SPDX-License-Identifier: Apache-2.0
// answer.h: converts results of the runtime to those of C functions: -1 and errno.
#pragma once

#include <stdint.h>

// Returns the result itself, or for a failure -1 with errno set.
__attribute__((__visibility__("hidden"))) long janus_c_answer(int64_t result);

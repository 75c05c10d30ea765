// SPDX-License-Identifier: Apache-2.0
// mem.h — the C library's memory functions, under names that no C library overrides; memcpy and the like are weak
// aliases of these, because compilers call them. Vector registers are left clean (vzeroupper).
#pragma once

#include <cstddef>

extern "C" {
void* janus_memcpy(void* to, const void* from, std::size_t bytes);
void* janus_memmove(void* to, const void* from, std::size_t bytes);
void* janus_memset(void* to, int byte, std::size_t bytes);
int janus_memcmp(const void* a, const void* b, std::size_t bytes);
}

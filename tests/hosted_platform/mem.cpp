// SPDX-License-Identifier: Apache-2.0
// mem.cpp — the runtime's mem* functions, implemented by those of the host, which sanitizers check.
#include <cstring>

extern "C" {
void* janus_memcpy(void* to, const void* from, std::size_t count) {
  return std::memcpy(to, from, count);
}
void* janus_memmove(void* to, const void* from, std::size_t count) {
  return std::memmove(to, from, count);
}
void* janus_memset(void* to, int byte, std::size_t count) {
  return std::memset(to, byte, count);
}
int janus_memcmp(const void* a, const void* b, std::size_t count) {
  return std::memcmp(a, b, count);
}
}

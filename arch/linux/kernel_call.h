// SPDX-License-Identifier: Apache-2.0
// arch/linux/kernel_call.h — enters the kernel directly. A result from -4095 to -1 is an errno; only call_again()
// retries.
#pragma once

#include <cstddef>
#include <type_traits>

#include "arch/linux/kernel_abi.h"

namespace janus::kernel {

template <typename T>
inline long word(T value) {
  if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(value);
  else
    return static_cast<long>(value);
}

// Unused arguments are passed as zero, since the kernel reads some of them.
template <typename... Args>
inline long call(long number, Args... args) {
  static_assert(sizeof...(args) <= 6);
  const long a[6] = {word(args)...};
  long result;
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline bool failed(long result) {
  return static_cast<unsigned long>(result) > -4096UL;
}

// Retries after EINTR: for calls that have had no effect when a handler interrupts them.
template <typename... Args>
inline long call_again(long number, Args... args) {
  long result;
  do result = call(number, args...);
  while (result == -kEINTR);
  return result;
}

}  // namespace janus::kernel

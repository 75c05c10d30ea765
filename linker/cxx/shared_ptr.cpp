// SPDX-License-Identifier: Apache-2.0
// shared_ptr.cpp: a variable and a function of the compiled C++ library that std::shared_ptr uses.
#include <bits/shared_ptr.h>

// Whether reference counts may do without atomic operations. They may not: tasks share memory across threads.
extern "C" {
[[gnu::weak]] char __libc_single_threaded = 0;
}

// Whether a type_info is make_shared's mark. Without RTTI the header recognises the mark by its address and calls this
// only for other ones.
[[gnu::weak]] bool std::_Sp_make_shared_tag::_S_eq(const std::type_info&) noexcept {
  return false;
}

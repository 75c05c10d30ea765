// SPDX-License-Identifier: Apache-2.0
// shared_ptr.cpp: the two things that std::shared_ptr asks of the library behind its header.
#include <bits/shared_ptr.h>

// Whether reference counts may do without atomic operations: tasks share memory across threads.
extern "C" {
[[gnu::weak]] char __libc_single_threaded = 0;
}

// Whether a type_info is make_shared's mark. Without RTTI the header knows the mark by its address and asks here only
// about others.
[[gnu::weak]] bool std::_Sp_make_shared_tag::_S_eq(const std::type_info&) noexcept {
  return false;
}

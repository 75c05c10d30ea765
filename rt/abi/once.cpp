// SPDX-License-Identifier: Apache-2.0
// rt/abi/once.cpp — what our C++ support library asks for function-local statics (linker/cxx/static_guard.cpp). Not in
// rt.h: the two are built together.
#include "rt/task/once.h"
#include "rt/abi/door.h"

using namespace janus;

extern "C" {

// 1: the caller is to do it. 0: it is done. Negative: it cannot be waited for. A cancelled task waits, too, and pays no
// grace for it [task].
int janus_once_begin(std::uint8_t* flag) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return begin_once(*me.task, *reinterpret_cast<OnceFlag*>(flag));
}

// `is_done` 0: the next one tries again [task].
void janus_once_end(std::uint8_t* flag, int is_done) {
  const Caller me = enter_free();
  if (me.task == nullptr) return;
  end_once(*me.task, *reinterpret_cast<OnceFlag*>(flag), is_done != 0 ? Once::kDone : Once::kToBeTriedAgain);
}

}  // extern "C"

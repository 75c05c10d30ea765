// SPDX-License-Identifier: Apache-2.0
// bits/c++config.h: libstdc++'s own, without what holds only on the system where it was built. No POSIX threads, so no
// std::mutex or std::thread: a lock of the kernel would block the worker. No futex for atomics, for that reason, too.
// No templates instantiated in a library, because that library is not linked.
#pragma once
#include_next <bits/c++config.h>

#undef _GLIBCXX_HAS_GTHREADS
#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0

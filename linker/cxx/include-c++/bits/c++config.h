// SPDX-License-Identifier: Apache-2.0
// bits/c++config.h: libstdc++'s own, less what was true only where it was built. No POSIX threads, so no std::mutex or
// std::thread: a lock of the kernel would hold the worker. No futex below atomics for the same reason. No templates
// that were instantiated in a library, because that library is not linked.
#pragma once
#include_next <bits/c++config.h>

#undef _GLIBCXX_HAS_GTHREADS
#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0

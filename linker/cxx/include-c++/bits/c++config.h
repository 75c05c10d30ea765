// SPDX-License-Identifier: Apache-2.0
// bits/c++config.h: libstdc++'s own, without what holds only on the system where it was built. There are no POSIX
// threads; std::mutex and what goes with it are ours, because a lock of the kernel would block the worker; for the same
// reason atomics use no futex. No templates are taken as instantiated in a library, because that library is not linked.
#pragma once
#include_next <bits/c++config.h>

#undef _GLIBCXX_HAS_GTHREADS
#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0

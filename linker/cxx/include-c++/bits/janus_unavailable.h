// SPDX-License-Identifier: Apache-2.0
// bits/janus_unavailable.h: how the headers beside this folder name what is not there: declared, so that a use of it is
// one error that names what tasks have instead, rather than a page of what follows from a missing name. Templates are
// defined, too: one without a body that is given a lambda is a second error to gcc.
#pragma once

#define __JANUS_UNAVAILABLE(instead) __attribute__((__unavailable__(instead)))

// The same in the body of a template, which clang does not let that attribute speak for.
template <class...>
struct __janus_is_available {
  static constexpr bool value = false;
};

#define __JANUS_NO_LOCKS                                                                                               \
  "a lock of the kernel would hold the worker with all of its tasks; use a janus::Channel of capacity 1, or build on " \
  "janus_park and janus_unpark"
#define __JANUS_NO_THREADS "threads are the runtime's; use janus::Nursery::spawn, and join() of its Task"
#define __JANUS_NO_WAIT(instead) "a wait of the kernel would hold the worker with all of its tasks; " instead

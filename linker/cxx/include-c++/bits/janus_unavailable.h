// SPDX-License-Identifier: Apache-2.0
// bits/janus_unavailable.h: macros with which the headers of the folder above declare what is not available, so that a
// use is one error that says what tasks use instead, rather than a page of errors that follow from a missing name.
// Templates are also defined: gcc reports a second error for one without a body that is given a lambda.
#pragma once

#define __JANUS_UNAVAILABLE(instead) __attribute__((__unavailable__(instead)))

// For a static_assert in the body of a template, where the attribute has no effect with clang.
template <class...>
struct __janus_is_available {
  static constexpr bool value = false;
};

#define __JANUS_NO_THREADS "threads are the runtime's; use janus::Nursery::spawn, and join() of its Task"

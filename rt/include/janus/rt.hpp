// SPDX-License-Identifier: Apache-2.0
// janus/rt.hpp: the C++20 interface of janus-rt, header-only over janus/rt.h. No exceptions, no RTTI, nothing from the
// standard library but what is freestanding, since C++23 <tuple>, too. Failure is a value: Result<T>.
//
//     janus::Nursery nursery;
//     auto left = nursery.spawn([] { return fib(30); });      // Task<long>
//     auto right = nursery.spawn([] { return fib(31); });
//     long sum = left.join().value() + right.join().value();   // value() of a failure ends this task as a panic
//
// A closure and its result are in one janus_alloc'ed block; objects that it captures by reference must outlive the
// nursery. The closure of a task that panicked is not destroyed, like the objects on its stack.
#ifndef JANUS_RT_HPP
#define JANUS_RT_HPP

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "janus/rt.hpp needs C++20 (-std=c++20)"
#endif

// The inline namespace separates these names from the runtime's own in the archive.
#include <janus/rt/blocking.hpp>
#include <janus/rt/calling_task.hpp>
#include <janus/rt/channel.hpp>
#include <janus/rt/fork_join.hpp>
#include <janus/rt/mailbox.hpp>
#include <janus/rt/nursery.hpp>
#include <janus/rt/parallel.hpp>
#include <janus/rt/runtime.hpp>
#include <janus/rt/select.hpp>
#include <janus/rt/several.hpp>
#include <janus/rt/sort.hpp>
#include <janus/rt/supervisor.hpp>
#include <janus/rt/sync.hpp>
#include <janus/rt/task.hpp>
#include <janus/rt/timeout.hpp>

#endif  // JANUS_RT_HPP

// SPDX-License-Identifier: Apache-2.0
// bits/gthr-default.h: tells libstdc++'s headers about threads; found before their own file, which needs POSIX threads.
// Threads exist, so reference counts are atomic. What tasks use to wait is in janus/rt.h.
#pragma once

#define __GTHREADS 1

// Used in declarations and in inline functions that are never called here.
typedef int __gthread_once_t;
typedef int __gthread_mutex_t;
typedef int __gthread_recursive_mutex_t;
int __gthread_mutex_lock(__gthread_mutex_t*);
int __gthread_mutex_unlock(__gthread_mutex_t*);
int __gthread_recursive_mutex_lock(__gthread_recursive_mutex_t*);
int __gthread_recursive_mutex_unlock(__gthread_recursive_mutex_t*);
#define __GTHREAD_ONCE_INIT 0
#define __GTHREAD_MUTEX_INIT 0
#define __GTHREAD_RECURSIVE_MUTEX_INIT 0

inline int __gthread_active_p() {
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// bits/gthr-default.h: what libstdc++'s headers believe of threads; found before their own, which wants POSIX threads.
// There are threads, so reference counts are atomic. There are no mutexes and the like: tasks use channels, nurseries and
// janus_park, since a lock of the kernel would hold the worker.
#pragma once

inline int __gthread_active_p() { return 1; }

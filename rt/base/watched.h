// SPDX-License-Identifier: Apache-2.0
// rt/base/watched.h — whether a sanitizer watches the tasks of this build, but not the runtime itself: true for all
// units of libjanus_hosted.a (arch/hosted), and false in the runtime that ships.
#pragma once

#include <cstddef>

namespace janus {

#ifdef JANUS_TASKS_ARE_WATCHED
inline constexpr bool kTasksAreWatched = true;
#else
inline constexpr bool kTasksAreWatched = false;
#endif

// How much larger each stack is than the program asked for: room for the frames of instrumented code, and for a report.
inline constexpr std::size_t kWatchersStackBytes = kTasksAreWatched ? 256 * 1024 : 0;

}  // namespace janus

// SPDX-License-Identifier: Apache-2.0
// rt/base/watched.h — whether this build's tasks are what a sanitizer watches, and the runtime itself is not: so it is
// in libjanus_hosted.a (arch/hosted), for all of its units. In what ships for machines nobody watches.
#pragma once

#include <cstddef>

namespace janus {

#ifdef JANUS_TASKS_ARE_WATCHED
inline constexpr bool kTasksAreWatched = true;
#else
inline constexpr bool kTasksAreWatched = false;
#endif

// What the frames of instrumented code, and a report on the way, need of each stack beyond what the program asked for.
inline constexpr std::size_t kWatchersStackBytes = kTasksAreWatched ? 256 * 1024 : 0;

}  // namespace janus

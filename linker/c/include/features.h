// SPDX-License-Identifier: Apache-2.0
// features.h: stops a compilation that includes headers of the host's C library. libstdc++ includes this file once, to
// learn which C library it is used with. Every later include is by a header of the host's C library, found in
// /usr/include beside the headers of zlib and the like. Its declarations do not fit the library that this program is
// linked with. docs/decisions/0031
#if defined(_GLIBCXX_OS_DEFINES) && !defined(JANUS_C_FEATURES_SEEN)
#define JANUS_C_FEATURES_SEEN 1
#define __GLIBC_PREREQ(major, minor) 0
#else
// This header is never found: so the compilation ends, with one line.
#include <this header is of the C library of the host, and janus-rt has none of that name>
#endif

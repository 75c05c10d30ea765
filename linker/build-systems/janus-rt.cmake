# SPDX-License-Identifier: Apache-2.0
# janus-rt.cmake: for cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/share/janus-rt/cmake/janus-rt.cmake. Programs run where they are
# built, so this sets compilers and says that there are no shared libraries; it is no cross compilation.
get_filename_component(JANUS_RT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(CMAKE_CXX_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(CMAKE_ASM_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(BUILD_SHARED_LIBS OFF CACHE BOOL "janus-rt: a program is one static file" FORCE)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_SKIP_RPATH ON)

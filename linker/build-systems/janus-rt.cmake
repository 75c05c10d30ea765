# SPDX-License-Identifier: Apache-2.0
# janus-rt.cmake: for cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/share/janus-rt/cmake/janus-rt.cmake. Sets the compilers, and turns off
# shared libraries. It is not a cross compilation, because programs run where they are built.
get_filename_component(JANUS_RT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(CMAKE_CXX_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(CMAKE_ASM_COMPILER "${JANUS_RT_PREFIX}/bin/janus-cc")
set(BUILD_SHARED_LIBS OFF CACHE BOOL "janus-rt: a program is one static file" FORCE)
# project() sets the names of libraries, and then reads static-libraries.cmake, which changes them.
set(CMAKE_USER_MAKE_RULES_OVERRIDE "${CMAKE_CURRENT_LIST_DIR}/static-libraries.cmake")
set(CMAKE_SKIP_RPATH ON)

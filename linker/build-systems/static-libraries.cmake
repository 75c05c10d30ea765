# SPDX-License-Identifier: Apache-2.0
# static-libraries.cmake: makes find_library find archives only, since a program is one static file. Read by project(), as set by
# janus-rt.cmake.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

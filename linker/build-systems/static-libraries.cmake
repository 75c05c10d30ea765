# SPDX-License-Identifier: Apache-2.0
# static-libraries.cmake: makes find_library find archives only, because a program is one static file. project() reads it, as
# janus-rt.cmake asks.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

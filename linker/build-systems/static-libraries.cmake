# SPDX-License-Identifier: Apache-2.0
# static-libraries.cmake: what find_library looks for, since a program is one static file. Read by project(), for the toolchain.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

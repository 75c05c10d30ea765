// SPDX-License-Identifier: Apache-2.0
// define.h: how this library defines its functions: weak, so that a program's own definition, or that of one of its
// libraries, wins without clashing with a neighbour from the same file.
#pragma once

#define JANUS_C_DEFINE __attribute__((__weak__))

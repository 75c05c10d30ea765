// SPDX-License-Identifier: Apache-2.0
// define.h: this library's functions are weak, so that a definition in the program or in one of its libraries is used
// instead, and does not clash when another function of the same file is linked. docs/decisions/0032
#pragma once

#define JANUS_C_DEFINE __attribute__((__weak__))

// SPDX-License-Identifier: Apache-2.0
// byteswap.h: reversing the bytes of a number.
#ifndef JANUS_C_BYTESWAP_H
#define JANUS_C_BYTESWAP_H

#define bswap_16(x) __builtin_bswap16(x)
#define bswap_32(x) __builtin_bswap32(x)
#define bswap_64(x) __builtin_bswap64(x)
#endif

// SPDX-License-Identifier: Apache-2.0
// stdc-predef.h: gcc includes it before everything else.
#ifndef JANUS_C_STDC_PREDEF_H
#define JANUS_C_STDC_PREDEF_H
#define __STDC_IEC_559__ 1
#define __STDC_ISO_10646__ 201706L
#define __STDC_NO_THREADS__ 1
#endif

// SPDX-License-Identifier: Apache-2.0
// errors.h — Linux's error numbers, as its system calls return them.
#pragma once

namespace janus::bare {

inline constexpr long kENOENT = -2, kEIO = -5, kEBADF = -9, kEFAULT = -14, kENOTDIR = -20, kEISDIR = -21, kEINVAL = -22,
                      kEMFILE = -24, kENOTTY = -25, kESPIPE = -29, kEROFS = -30, kENAMETOOLONG = -36, kENOSYS = -38,
                      kELOOP = -40;

}  // namespace janus::bare

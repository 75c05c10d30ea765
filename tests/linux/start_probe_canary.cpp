// SPDX-License-Identifier: Apache-2.0
// start_probe_canary.cpp — the part of the probe that is compiled with a stack canary in every function, as Debian
// compiles libraries. One of its functions runs during relocation. Includes no headers, since their inline functions
// would then have canaries as well.
extern "C" [[noreturn]] void janus_probe_smashed();
extern "C" [[noreturn]] void __stack_chk_fail() {
  janus_probe_smashed();
}

namespace {
int chosen() {
  return 3;
}
}  // namespace

extern "C" int (*janus_probe_resolve())() {
  int (*volatile choice[2])() = {nullptr, chosen};
  return choice[1];
}

extern "C" int janus_probe_indirect() __attribute__((ifunc("janus_probe_resolve")));

// Calls the function that relocation chose (an IFUNC), through the table that relocation filled.
extern "C" int janus_probe_chosen() {
  return janus_probe_indirect();
}

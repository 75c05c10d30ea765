// SPDX-License-Identifier: Apache-2.0
// start_probe_canary.cpp — the part of the probe that is compiled with a canary in every function, as Debian compiles
// libraries. One of them runs during relocation. Includes nothing: inline functions would carry canaries everywhere.
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

// Calls the function that relocation chose, through the table that it filled.
extern "C" int janus_probe_chosen() {
  return janus_probe_indirect();
}

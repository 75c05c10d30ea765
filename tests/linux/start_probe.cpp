// SPDX-License-Identifier: Apache-2.0
// start_probe.cpp — a program that checks how it was started. start_test.sh runs it as a fixed and as a
// position-independent image. Its exit status is the number of the first check that fails, or the status that its
// arguments ask for.
#include "arch/linux/auxv/auxv.h"
#include "rt/platform.h"
#include "tests/linux/kernel_eye.h"

extern "C" int janus_probe_chosen();  // start_probe_canary.cpp

namespace {

using namespace janus;

// --- What relocation must have done

int g_target = 41;
int* volatile g_pointer = &g_target;  // needs a relative relocation in writable data

// Two hundred relocations in RELRO: in the compact form one entry covers 63 words.
using Function = int (*)();
int one() {
  return 1;
}
int two() {
  return 2;
}
struct Table {
  Function functions[200];
};
constexpr Table make_table() {
  Table table{};
  for (int i = 0; i < 200; ++i) table.functions[i] = i % 2 == 0 ? one : two;
  return table;
}
constinit const Table g_table = make_table();

// Hides the table from the compiler.
Function* functions() {
  auto* table = const_cast<Function*>(g_table.functions);
  asm volatile("" : "+r"(table));
  return table;
}

int nothing() {
  return 0;
}

bool is_relocated() {
  for (int i = 0; i < 200; ++i)
    if (functions()[i]() != 1 + i % 2) return false;
  return *g_pointer == 41 && janus_probe_chosen() == 3;
}

bool constants_are_read_only() {
  const test::End end = test::in_child([] {
    *functions() = nothing;
    return true;
  });
  return end.died_of(kernel::kSigSegv);
}

// --- What the first thread must have

bool has_a_block() {
  std::uint64_t self, canary;
  asm volatile("mov %%fs:0, %0; mov %%fs:0x28, %1" : "=r"(self), "=r"(canary));
  std::uint64_t base = 0;
  test::call(kernel::kArchPrctl, kernel::kArchGetFs, &base);
  return self == base && canary != 0 && (canary & 0xff) == 0;
}

bool stack_is_aligned() {
  return reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) % 16 == 0;
}

bool is_empty(const char* text) {
  return *text == '\0';
}

bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

int look(int argc, char** argv, char** envp) {
  if (!is_relocated()) return 1;
  if (!constants_are_read_only()) return 2;
  if (!has_a_block()) return 3;
  if (!stack_is_aligned()) return 4;
  if (kernel::aux_value(kernel::kAuxRandom, 0) == 0) return 5;
  if (argc < 2) return 0;
  if (argv[argc] != nullptr) return 7;
  if (equal(argv[1], "no-environment")) return *envp == nullptr ? 0 : 8;
  if (equal(argv[1], "environment")) return *envp != nullptr && equal(*envp, "ONLY=one") && envp[1] == nullptr ? 0 : 9;
  if (equal(argv[1], "many")) return argc == 1002 && equal(argv[1001], "1000") ? 0 : 10;
  if (equal(argv[1], "without-arguments")) {
    char* const none[] = {nullptr};
    test::call(test::kExecve, "/proc/self/exe", none, none);
    return 11;
  }
  if (equal(argv[1], "say")) return platform::write(1, "said\n", 5) == 5 ? 0 : 12;
  if (equal(argv[1], "die")) platform::abort();
  return 13;
}

}  // namespace

extern "C" [[noreturn]] void janus_probe_smashed() {
  janus::platform::exit(15);
}

extern "C" [[noreturn]] void janus_boot(int argc, char** argv, char** envp) {
  // Since Linux 5.18 a program started without arguments gets one empty argument; before, it got none.
  if (argc == 0 || is_empty(argv[0])) janus::platform::exit(*envp == nullptr ? 77 : 14);
  janus::platform::exit(look(argc, argv, envp));
}

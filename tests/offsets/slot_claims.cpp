// SPDX-License-Identifier: Apache-2.0
// slot_claims.cpp — checks every %gs and %fs operand of the whole program, and single accesses to struct WorkerSlot.
#include <cstddef>
#include <optional>

#include "rt/base/worker_slot.h"
#include "tests/offsets/decode.h"
#include "tests/offsets/report.h"

namespace witness {
namespace {

using janus::WorkerSlot;

struct Access {
  std::string function;
  std::string text;
  std::string mnemonic;
  ZydisDecodedOperandMem mem;
  unsigned bits;
  bool writes;
};

// The memory operands of `function` that go through `segment`.
void collect(const Image& image, const Function& function, ZydisRegister segment, std::vector<Access>& out) {
  auto bytes = image.code_at(function.address);
  if (bytes.size() > function.size) bytes = bytes.first(function.size);
  std::uint64_t address = function.address;
  Instruction now;
  while (!bytes.empty() && decode(bytes, address, now)) {
    for (const auto& operand : now.visible())
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.segment == segment)
        out.push_back({function.name, now.text(), now.mnemonic(), operand.mem, operand.size,
                       (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0});
    address = now.next();
    bytes = bytes.subspan(now.code.length);
  }
}

std::vector<Access> accesses(const Image& image, ZydisRegister segment) {
  std::vector<Access> found;
  for (const auto& function : image.functions()) collect(image, function, segment, found);
  return found;
}

// arch/linux has a block of its own for each thread behind %fs. Code above it may only read the word that the ABI puts
// at %fs:0, to identify a thread.
bool may_use_fs(const Access& access) {
  const bool machine =
      access.function.starts_with("_ZN5janus6kernel") || access.function.starts_with("_ZN5janus8platform");
  const bool identity = !access.writes && access.bits == 64 && access.mem.base == ZYDIS_REGISTER_NONE &&
                        access.mem.index == ZYDIS_REGISTER_NONE && access.mem.disp.value == 0;
  return machine || identity;
}

bool is_a_field(std::int64_t displacement) {
  for (std::size_t field : {offsetof(WorkerSlot, self), offsetof(WorkerSlot, fuel), offsetof(WorkerSlot, task),
                            offsetof(WorkerSlot, stack_limit)})
    if (displacement == static_cast<std::int64_t>(field)) return true;
  return false;
}

// What a function of subject.cpp must look like that accesses one field of the slot.
struct Wanted {
  const char* function;
  const char* mnemonic;
  std::size_t field;
  bool writes;
};
constexpr Wanted kWanted[] = {
    {"subject_self", "mov", offsetof(WorkerSlot, self), false},
    {"subject_fuel", "mov", offsetof(WorkerSlot, fuel), false},
    {"subject_set_fuel", "mov", offsetof(WorkerSlot, fuel), true},
    {"subject_task", "mov", offsetof(WorkerSlot, task), false},
    {"subject_stack_limit", "mov", offsetof(WorkerSlot, stack_limit), false},
    {"subject_spend", "sub", offsetof(WorkerSlot, fuel), true},
    {"subject_yield_check", "sub", offsetof(WorkerSlot, fuel), true},
    {"subject_yield_check_in_c", "sub", offsetof(WorkerSlot, fuel), true},
};

}  // namespace

void check_segments(const Image& image, bool is_hosted, Report& report) {
  if (!is_hosted) {
    report.claim("segments: the program has no thread-local storage", !image.has_thread_local_storage());
    for (const auto& access : accesses(image, ZYDIS_REGISTER_FS))
      report.claim("segments: %fs is the machine layer's: " + access.function + ": " + access.text, may_use_fs(access));
  }
  const auto slot = accesses(image, ZYDIS_REGISTER_GS);
  report.claim("segments: the program reaches its worker slot at all", !slot.empty());
  for (const auto& access : slot) {
    const std::string where = access.function + ": " + access.text;
    const bool direct = access.mem.base == ZYDIS_REGISTER_NONE && access.mem.index == ZYDIS_REGISTER_NONE;
    report.claim("segments: %gs is used with a plain offset: " + where, direct);
    report.claim("segments: that offset is a field: " + where, is_a_field(access.mem.disp.value) && access.bits == 64);
    report.claim("segments: the self pointer is never written: " + where,
                 !access.writes || access.mem.disp.value != static_cast<std::int64_t>(offsetof(WorkerSlot, self)));
  }
}

void check_slot_accesses(const Image& image, Report& report) {
  for (const auto& wanted : kWanted) {
    std::vector<Access> found;
    collect(image, image.function(wanted.function), ZYDIS_REGISTER_GS, found);
    const std::string what = std::string("slot: ") + wanted.function;
    report.claim(what + " touches the slot once", found.size() == 1, std::to_string(found.size()));
    if (found.size() != 1) continue;
    report.equal(what + " reaches its field", std::to_string(found[0].mem.disp.value), std::to_string(wanted.field));
    report.equal(what + " is the instruction promised", found[0].mnemonic, wanted.mnemonic);
    report.claim(what + " is 64 bits wide", found[0].bits == 64);
    report.claim(what + (wanted.writes ? " writes" : " only reads"), found[0].writes == wanted.writes);
  }
}

}  // namespace witness

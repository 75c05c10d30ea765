// SPDX-License-Identifier: Apache-2.0
// stepper [--where] PROGRAM ARGUMENTS: runs the program up to its first int3, then step by step up to the second, and
// prints how many instructions there were and how many of them lock the bus; or, with --where, the address of each.
// There is no sampling and no model: the program runs on this machine. Exit status 3: tracing is not allowed here.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFailed = 1, kNotAllowed = 3, kLongestInstruction = 15 };

static _Noreturn void fail(const char* what) {
  fprintf(stderr, "stepper: %s\n", what);
  exit(kFailed);
}

// --- The program's text, read from the file: the program is static, so addresses are those of the file --------------

static const uint8_t* file;
static const Elf64_Phdr* text;

static void map_program(const char* path) {
  const int descriptor = open(path, O_RDONLY);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) < 0) fail("cannot read the program");
  file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (file == MAP_FAILED) fail("cannot map the program");
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)file;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_EXEC) fail("not a static program");
  const Elf64_Phdr* segments = (const Elf64_Phdr*)(file + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X) text = &segments[i];
  if (!text) fail("the program has no text");
}

static int is_prefix(uint8_t byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || (byte & 0xe7) == 0x26 || byte == 0x64 ||
         byte == 0x65;
}

// True for a lock prefix, an xchg with memory, and mfence.
static int is_locked(uint64_t address) {
  const uint64_t offset = address - text->p_vaddr;
  if (address < text->p_vaddr || offset >= text->p_filesz) return 0;
  uint8_t bytes[kLongestInstruction] = {0};
  const uint64_t left = text->p_filesz - offset;
  memcpy(bytes, file + text->p_offset + offset, left < sizeof bytes ? left : sizeof bytes);
  const uint8_t* at = bytes;
  while (is_prefix(*at) && at < bytes + 4) ++at;
  if (*at == 0xf0) return 1;
  if ((*at & 0xf0) == 0x40) ++at;  // REX
  if (*at == 0x86 || *at == 0x87) return at[1] < 0xc0;
  return at[0] == 0x0f && at[1] == 0xae && at[2] == 0xf0;
}

// --- Tracing --------------------------------------------------------------------------------------------------------

static pid_t child;

static _Noreturn void be_the_program(char** command) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) _exit(kNotAllowed);
  execv(command[0], command);
  _exit(kFailed);
}

// Resumes the program, and returns the address at which it stopped with SIGTRAP. The alarm of a worker that has tasks of
// cages (SIGURG) is kept from it: stepping is so slow that it would ring at almost every instruction.
static uint64_t resume(enum __ptrace_request how) {
  int status;
  do {
    if (ptrace(how, child, NULL, NULL) < 0 || waitpid(child, &status, 0) != child) fail(strerror(errno));
  } while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGURG);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) exit(kNotAllowed);
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
    fail("the program ended, or took a signal, between its marks");
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, child, NULL, &registers) < 0) fail(strerror(errno));
  return registers.rip;
}

// After an int3 the instruction pointer is behind it.
static int is_mark(uint64_t address) {
  const uint64_t offset = address - 1 - text->p_vaddr;
  return offset < text->p_filesz && file[text->p_offset + offset] == 0xcc;
}

static void count(int says_where) {
  uint8_t* const met = calloc(1, text->p_filesz);
  if (!met) fail("no memory");
  uint64_t at = resume(PTRACE_CONT), instructions = 0, locked = 0;
  if (!is_mark(at)) fail("stopped where there is no mark");
  for (;;) {
    const int locks = is_locked(at);
    const uint64_t before = at;
    at = resume(PTRACE_SINGLESTEP);
    if (at == before + 1 && is_mark(at)) break;
    if (before - text->p_vaddr < text->p_filesz) met[before - text->p_vaddr] = 1;
    ++instructions;
    locked += (uint64_t)locks;
  }
  if (!says_where) printf("%llu %llu\n", (unsigned long long)instructions, (unsigned long long)locked);
  for (uint64_t i = 0; says_where && i < text->p_filesz; ++i)
    if (met[i]) printf("%#llx\n", (unsigned long long)(text->p_vaddr + i));
}

// Switching between the two processes is twice as fast on one CPU.
static void stay_here(void) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET((size_t)sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
}

int main(int argc, char** argv) {
  const int says_where = argc > 1 && strcmp(argv[1], "--where") == 0;
  argc -= says_where;
  argv += says_where;
  if (argc < 2) fail("which program?");
  map_program(argv[1]);
  stay_here();
  child = fork();
  if (child == 0) be_the_program(argv + 1);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) fail(strerror(errno));
  if (WIFEXITED(status)) return WEXITSTATUS(status);  // the program could not be executed
  ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)PTRACE_O_EXITKILL);
  count(says_where);
  return 0;  // the program ends with the tracer
}

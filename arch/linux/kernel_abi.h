// SPDX-License-Identifier: Apache-2.0
// arch/linux/kernel_abi.h — the numbers and layouts of the kernel's x86-64 interface that this layer uses. They are
// fixed, as part of Linux's stable user-space ABI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::kernel {

inline constexpr std::size_t kPage = 4096;

enum Number : long {
  kRead = 0,
  kWrite = 1,
  kClose = 3,
  kLseek = 8,
  kMmap = 9,
  kMprotect = 10,
  kMunmap = 11,
  kSigaction = 13,
  kSigprocmask = 14,
  kIoctl = 16,
  kMadvise = 28,
  kPause = 34,
  kSetitimer = 38,
  kGetpid = 39,
  kExit = 60,
  kFcntl = 72,
  kGetrlimit = 97,
  kGetrusage = 98,
  kSysinfo = 99,
  kSetsid = 112,
  kSigaltstack = 131,
  kStatfs = 137,
  kMunlock = 150,
  kPrctl = 157,
  kArchPrctl = 158,
  kSetrlimit = 160,
  kSync = 162,
  kReboot = 169,
  kGettid = 186,
  kFutex = 202,
  kSchedSetaffinity = 203,
  kSchedGetaffinity = 204,
  kTimerCreate = 222,
  kTimerSettime = 223,
  kTimerDelete = 226,
  kClockGettime = 228,
  kExitGroup = 231,
  kTgkill = 234,
  kOpenat = 257,
  kPpoll = 271,
  kEventFd = 290,
  kRtTgsigqueueinfo = 297,
  kGetcpu = 309,
  kGetrandom = 318,
  kMembarrier = 324,
  kPwritev2 = 328,
  kPidfdOpen = 434,
  kProcessMadvise = 440,
};

enum Error : long {
  kEPERM = 1,
  kEINTR = 4,
  kEAGAIN = 11,
  kENOMEM = 12,
  kEINVAL = 22,
  kENOSYS = 38,
  kEOPNOTSUPP = 95,
};

// --- Pages
inline constexpr long kProtNone = 0, kProtRead = 1, kProtWrite = 2;
inline constexpr long kMapPrivate = 0x02, kMapAnonymous = 0x20, kMapNoReserve = 0x4000;
inline constexpr long kAdviseDontNeed = 4, kAdviseNoHugePage = 15, kAdviseWipeOnFork = 18, kAdvisePopulateWrite = 23,
                      kAdviseDontNeedLocked = 24, kAdviseGuardInstall = 102, kAdviseGuardRemove = 103;
inline constexpr long kPidfdSelf = -10000;

struct Range {
  void* start;
  std::size_t bytes;
};

// --- Descriptors
inline constexpr long kSeekCurrent = 1, kNoWait = 8;  // RWF_NOWAIT
inline constexpr long kEventCloseOnExec = 0x80000, kEventNonBlocking = 0x800;
inline constexpr std::int16_t kPollOut = 4;
struct PollFd {
  std::int32_t fd;
  std::int16_t wanted, got;
};

// --- Threads
inline constexpr std::uint64_t kCloneVm = 0x100, kCloneFs = 0x200, kCloneFiles = 0x400, kCloneSighand = 0x800,
                               kCloneThread = 0x10000, kCloneSysvsem = 0x40000, kCloneSettls = 0x80000;
struct CloneArgs {
  std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};
inline constexpr long kPrSetName = 15, kPrSetTimerSlack = 29, kPrGetAuxv = 0x41555856;
inline constexpr long kArchSetGs = 0x1001, kArchSetFs = 0x1002, kArchGetFs = 0x1003, kArchGetGs = 0x1004;

// --- Futexes, time, fences
inline constexpr long kFutexWakePrivate = 1 | 128, kFutexWaitBitsetPrivate = 9 | 128, kFutexAnyone = 0xffffffff;
inline constexpr long kClockRealtime = 0, kClockMonotonic = 1, kClockThread = 3;
struct Timespec {
  std::int64_t seconds, nanoseconds;
};
inline constexpr long kUsageOfThread = 1;
struct Rusage {
  std::int64_t unused[17];
  std::int64_t involuntary_switches;
};
inline constexpr long kTimerReal = 0;
struct IntervalTimer {
  std::int64_t again_seconds, again_us, seconds, us;
};
// A timer that sends a signal to a thread (SIGEV_THREAD_ID).
struct TimerEvent {
  std::uint64_t value;  // sent with the signal
  std::int32_t signal, notify, thread, unused[11];
};
inline constexpr std::int32_t kNotifyThread = 4;
struct TimerTimes {
  Timespec period, first;
};
static_assert(sizeof(TimerEvent) == 64);
inline constexpr long kMembarrierPrivate = 1 << 3, kMembarrierRegisterPrivate = 1 << 4;

// --- Signals
enum Signal : int {
  kSigInt = 2,
  kSigQuit = 3,
  kSigIll = 4,
  kSigTrap = 5,
  kSigAbrt = 6,
  kSigBus = 7,
  kSigFpe = 8,
  kSigSegv = 11,
  kSigPipe = 13,
  kSigAlrm = 14,
  kSigTerm = 15,
  kSigChld = 17,
  kSigUrg = 23,
  kSigSys = 31,
};
inline constexpr long kSigBlock = 0, kSigUnblock = 1, kSigSetmask = 2;
constexpr std::uint64_t signal_bit(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

inline constexpr std::uint64_t kSaNocldwait = 2, kSaRestart = 0x10000000, kSaSiginfo = 4, kSaRestorer = 0x04000000,
                               kSaOnstack = 0x08000000, kSaNodefer = 0x40000000, kSaResethand = 0x80000000;
inline constexpr std::uintptr_t kSigDfl = 0, kSigIgn = 1;

struct SignalStack {
  void* base;
  std::int32_t flags;
  std::size_t bytes;
};
inline constexpr std::int32_t kStackDisabled = 2;

struct SignalAction {
  std::uintptr_t handler;
  std::uint64_t flags;
  void (*restorer)();
  std::uint64_t mask;
};

// The data of a signal. `code` above 0: the kernel raised it, for a fault; kFromKernel is such a code, for a fault
// without an address.
struct SignalInfo {
  std::int32_t signal, error, code, reserved;
  std::uint64_t address;
  std::uint64_t value;  // sent with the signal
};
inline constexpr std::int32_t kFromQueue = -1, kFromTimer = -2;  // SI_QUEUE, SI_TIMER
inline constexpr std::int32_t kFromKernel = 0x80, kFpeIntDivide = 1, kFpeIntOverflow = 2;
inline constexpr std::int32_t kBusAlignment = 1;  // BUS_ADRALN

// The frame that a handler gets and sigreturn restores.
struct MachineContext {
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error, trap, old_mask, cr2;
  struct FpuState* fpu;
  std::uint64_t reserved[8];
};
struct SignalFrame {
  std::uint64_t flags;
  SignalFrame* link;
  SignalStack stack;
  MachineContext machine;
  std::uint64_t mask;
};

// The fxsave image; if `magic` is set, an extended state (its size is in the software bytes) follows.
struct FpuState {
  std::uint16_t control, status, tag, opcode;
  std::uint64_t last_ip, last_operand;
  std::uint32_t mxcsr, mxcsr_mask;
  std::uint8_t st[128], xmm[256], unused[48];
  std::uint32_t magic, extended_bytes;
  std::uint64_t features;
  std::uint32_t xstate_bytes, padding[7];
  std::uint64_t present;  // XSTATE_BV, the first word of the extended state's header
};
inline constexpr std::uint32_t kExtendedMagic = 0x46505853;

static_assert(offsetof(MachineContext, fpu) == 184 && offsetof(SignalFrame, machine) == 40 &&
              offsetof(SignalFrame, mask) == 296);
static_assert(offsetof(FpuState, mxcsr) == 24 && offsetof(FpuState, magic) == 464 &&
              offsetof(FpuState, present) == 512);
static_assert(sizeof(SignalAction) == 32 && sizeof(SignalStack) == 24 && sizeof(CloneArgs) == 64);

// --- Data from the kernel for a new program
struct AuxEntry {
  std::uint64_t type, value;
};
inline constexpr std::uint64_t kAuxNull = 0, kAuxPhdr = 3, kAuxPhnum = 5, kAuxRandom = 25, kAuxHwcap2 = 26,
                               kAuxVdso = 33, kAuxMinSigStack = 51;
inline constexpr std::uint64_t kHwcap2Fsgsbase = 1 << 1;

struct SystemInfo {
  std::int64_t uptime;
  std::uint64_t loads[3], total_ram, free_ram, shared_ram, buffer_ram, total_swap, free_swap;
  std::uint16_t processes, padding;
  std::uint64_t total_high, free_high;
  std::uint32_t unit;
};

// --- Files
inline constexpr long kAtCwd = -100, kStandardOutput = 1;
inline constexpr long kOpenReadWrite = 2, kOpenNoControl = 0400, kOpenSignals = 020000, kOpenCloexec = 02000000;
inline constexpr long kFileSetFlags = 4, kFileSetOwner = 8, kFileSetSignal = 10;

struct FileSystemInfo {
  std::int64_t type, others[14];
};
inline constexpr std::int64_t kFileSystemCgroup = 0x27e0eb, kFileSystemCgroup2 = 0x63677270;
static_assert(sizeof(FileSystemInfo) == 120);

// --- Terminals, and powering off the machine
struct TerminalModes {
  std::uint32_t input, output, control, local;
  std::uint8_t line, characters[19];
};
static_assert(sizeof(TerminalModes) == 36);
inline constexpr long kTerminalGetModes = 0x5401, kTerminalSetModes = 0x5402, kTerminalDrain = 0x5409,
                      kTerminalBecomeOurs = 0x540e;
inline constexpr std::uint32_t kTerminalPostProcess = 1, kTerminalEcho = 8;
inline constexpr long kRebootMagic = 0xfee1dead, kRebootMagic2 = 672274793, kRebootPowerOff = 0x4321fedc;

}  // namespace janus::kernel

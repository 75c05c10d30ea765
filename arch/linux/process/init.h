// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/init.h — a program of ours as the only one of a whole machine. PID 1 of a container just exits; PID
// 1 of a machine would take the kernel down with it, so it has to report its status elsewhere and power off.
// docs/decisions/0120.
#pragma once

namespace janus::kernel {

// Called first of the three, before there is a second thread. This process is a machine's init if the environment has
// JANUS_INIT=PATH and this is PID 1. PATH is a terminal, where the status goes and orders come from.
void begin_as_init(char** envp) noexcept;

// From here on a newline from that terminal is a SIGTERM for this process, and ^C a SIGINT; a line "ready" reports
// that.
void take_orders() noexcept;

// Writes "exit STATUS" there and turns the machine off. Any thread, and signal handlers. Returns if this process is no
// init.
void end_as_init(int status) noexcept;

}  // namespace janus::kernel

// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/init.h — a program of ours as the only process of a machine. PID 1 of a container just exits; the
// exit of PID 1 of a machine would crash the kernel, so the program reports its status to a terminal and powers off.
// docs/decisions/0120.
#pragma once

namespace janus::kernel {

// Called first of the three, before there is a second thread. This process is a machine's init if the environment has
// JANUS_INIT=PATH and this is PID 1. PATH is a terminal, for the status and for orders.
void begin_as_init(char** envp) noexcept;

// From now on a newline from that terminal is a SIGTERM for this process, and ^C a SIGINT; a line "ready" reports that.
void take_orders() noexcept;

// Writes "exit STATUS" to that terminal and powers the machine off. Any thread, and signal handlers. Returns if this
// process is no machine's init.
void end_as_init(int status) noexcept;

}  // namespace janus::kernel

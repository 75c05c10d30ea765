# SPDX-License-Identifier: Apache-2.0
# docs/decisions/0121
"""One run: QEMU is started, its console relayed, signals passed on, and its end turned into a status."""
import contextlib
import ctypes
import errno
import json
import math
import os
import re
import selectors
import signal
import socket
import subprocess
import time

from janus_qemu.machine import STATUS_DONE
from janus_qemu.outlet import LAST_WORDS_S, Outlet
from janus_qemu.refusal import Refusal

TIMED_OUT, ENDED_OTHERWISE = 124, 125
KERNEL_ENDED = 'the kernel ended before the program did (a kernel panic?)'
ORDERS = {signal.SIGTERM: b'\n', signal.SIGINT: b'\x03'}   # as arch/linux/process/init.h takes them
GRACE_MS, PATIENCE_S = 5000, 10                           # the runtime's default grace; added to it for QEMU and the kernel
LONGEST_S = 3600                                          # the longest single wait for events


def die_with_parent():
    """Makes the kernel kill QEMU when janus-qemu ends in any way."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def send(port, data):
    """Sends to a QEMU that may have ended; in that case the data is dropped, and wait() finds its end."""
    with contextlib.suppress(ConnectionError):
        port.send(data)


class Session:
    """A run. After it: the `status` to exit with, an `explanation` of it or None, and QEMU's own messages in `complaints`."""

    def __init__(self, machine, boot, linux, console=1, starts=True):
        self.machine, self.boot, self.linux = machine, boot, linux
        self.starts = starts             # False: gdb starts the machine
        self.output = console            # a descriptor; None: the console is discarded
        self.outlet = None               # writes to it; None once writing has failed
        self.status, self.explanation = None, None
        self.said = b''                  # the output of the guest on COM2
        self.complaints = b''            # QEMU's stderr
        self.deadline = math.inf
        self.forced = None               # status and explanation, once the session has killed QEMU

    def run(self, timeout):
        ours, theirs = socket.socketpair()
        control, their_control = socket.socketpair()
        output, self.their_output = os.pipe()
        wake_read, wake_write = socket.socketpair()
        wake_write.setblocking(False)
        heard = [*ORDERS, *([signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else [])]  # nohup
        handlers = {number: signal.signal(number, lambda *_: None) for number in heard}
        signal.set_wakeup_fd(wake_write.fileno())
        self.deadline, self.late = time.monotonic() + timeout, (TIMED_OUT, f'ended after {timeout:g} s')
        try:
            # In a session of its own: ^C in a terminal then reaches only janus-qemu, which passes it on to the guest.
            try:
                self.qemu = subprocess.Popen(
                    self.machine.command(self.boot, theirs.fileno(), their_control.fileno()), stdin=subprocess.DEVNULL,
                    stdout=self.their_output, stderr=subprocess.PIPE, pass_fds=[theirs.fileno(), their_control.fileno()],
                    start_new_session=True, preexec_fn=die_with_parent)
            except OSError as error:
                raise Refusal(f'{self.machine.qemu} could not be started: {error.strerror}') from error
            theirs.close()
            their_control.close()
            self.port, self.control = ours, control
            self.outlet = None if self.output is None else Outlet(self.output)
            with open(output, 'rb', buffering=0) as self.console:
                self.relay(wake_read)
            if self.outlet is not None:
                self.outlet.close()
            self.status, self.explanation = self.verdict(self.qemu.wait())
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in handlers.items():
                signal.signal(number, handler)

    # --- While it runs

    def relay(self, wake):
        """Relays until QEMU has closed its ends of all streams and the console is written out. If the session has killed QEMU, the
        reader of the console has LAST_WORDS_S for the rest."""
        self.sources = sources = selectors.DefaultSelector()
        for source, take in ((self.console, self.take_console), (self.qemu.stderr, self.take_complaint), (self.port, self.take_status),
                             (self.control, self.take_control)):
            sources.register(source, selectors.EVENT_READ, take)
        sources.register(wake, selectors.EVENT_READ, self.take_signals)
        while len(sources.get_map()) > 1:
            left = self.deadline - time.monotonic()
            if left <= 0 and self.forced:
                break
            if left <= 0:
                self.end(*self.late)
            for key, _ in sources.select(min(max(left, 0), LONGEST_S)):
                try:
                    data = os.read(key.fd, 1 << 16)
                except ConnectionResetError:
                    data = b''
                if data:
                    key.data(data)
                else:
                    sources.unregister(key.fileobj)
                    if key.fileobj is self.control:
                        self.leave_output()

    def take_control(self, data):
        """QEMU has sent its greeting, so it has opened its output and made it non-blocking: it would discard what a reader is not
        ready for (virtio's console), or might (serial ports). Makes the output blocking again, through a descriptor of the same
        open file, so that QEMU waits for the reader. Then the machine is started."""
        if self.their_output is None:
            return
        os.set_blocking(self.their_output, True)
        self.leave_output()
        orders = ['qmp_capabilities', 'cont'] if self.starts else ['qmp_capabilities']
        send(self.control, ''.join(json.dumps({'execute': order}) + '\n' for order in orders).encode())

    def leave_output(self):
        """Closes the session's own descriptor of QEMU's output, so that the console ends when QEMU does."""
        if self.their_output is not None:
            os.close(self.their_output)
            self.their_output = None

    def take_console(self, data):
        """Reads no more until this piece is written: a slow reader stops the machine."""
        if self.outlet is not None:
            self.outlet.put(data)
            self.sources.unregister(self.console)
            self.sources.register(self.outlet.done, selectors.EVENT_READ, self.take_written)

    def take_written(self, error):
        self.sources.unregister(self.outlet.done)
        self.sources.register(self.console, selectors.EVENT_READ, self.take_console)
        if error[0] == errno.EPIPE:
            self.end(128 + signal.SIGPIPE, None)
        elif error[0] != 0:
            self.end(ENDED_OTHERWISE, f'stdout: {os.strerror(error[0])}')
        if error[0] != 0:
            self.outlet = None

    def take_complaint(self, data):
        self.complaints += data

    def take_status(self, data):
        self.said += data

    def take_signals(self, numbers):
        for number in numbers:
            if number in ORDERS and self.linux and re.search(rb'^ready\r?$', self.said, re.MULTILINE):
                send(self.port, ORDERS[number])
                grace = os.environ.get('JANUS_GRACE', '')
                patience = (int(grace) if grace.isdigit() else GRACE_MS) / 1000 + PATIENCE_S
                self.deadline = min(self.deadline, time.monotonic() + patience)
                self.late = (128 + number, 'the program did not end when it was told to')
            else:
                self.end(128 + number, None)

    def end(self, status, explanation):
        if self.forced is None:
            self.forced = status, explanation
            self.deadline = time.monotonic() + LAST_WORDS_S
            self.qemu.kill()

    # --- After it has ended

    def verdict(self, status):
        if self.forced:
            return self.forced
        result, problem = self.status_said()
        problem = self.problem_of_qemu(status, result is not None) or problem
        return (result, None) if problem is None else (ENDED_OTHERWISE, problem)

    def status_said(self):
        """Returns the status that the guest reported and None, or None and what is wrong with its report."""
        lines = self.said.replace(b'\r', b'').split(b'\n')
        unfinished = lines.pop()
        ends = [line for line in lines if line.startswith(b'exit')]
        if not ends:
            return None, ('the program ended in the middle of saying its status' if unfinished else
                          'the program ended without saying its status')
        number = re.fullmatch(rb'exit (\d{1,3})', ends[-1])
        if number is None or int(number[1]) > 255:
            return None, f'the program ended with a status that is none: {ends[-1].decode(errors="replace")!r}'
        return int(number[1]), None

    def problem_of_qemu(self, status, has_said):
        """Describes how QEMU ended; None if that is how it ends after a successful run."""
        if status < 0:
            return f'QEMU died of signal {-status}'
        if self.complaints and status == 1:
            return f'QEMU failed: {self.complaints.decode(errors="replace").strip().splitlines()[-1]}'
        if self.linux and status == 0:
            return None if has_said else KERNEL_ENDED
        if not self.linux and status == STATUS_DONE:
            return None
        if status == 0:
            return 'the machine was reset or turned off (a triple fault?)' + (', after the program had said its status' if has_said else '')
        if status & 1:
            return f'the machine ended with {status >> 1:#x} on its exit port instead of {STATUS_DONE >> 1:#x}'
        return f'QEMU ended with status {status}'

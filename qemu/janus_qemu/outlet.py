# SPDX-License-Identifier: Apache-2.0
"""Writing to a descriptor whose reader may stand still. A thread waits for the reader, so that nobody else has to, and goes
with the process if need be. O_NONBLOCK is left as it is: it is the open file's, which others share."""
import os
import queue
import select
import socket
import threading

LAST_WORDS_S = 1    # that a reader has for what is left when we want to end


class Outlet:
    """Takes one piece at a time. Once that is written, or cannot be, `done` has a byte to read: 0, or the number of the error."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._pieces = queue.SimpleQueue()
        self.done, self._ours = socket.socketpair()
        threading.Thread(target=self._work, daemon=True).start()

    def put(self, piece):
        self._pieces.put(piece)

    def close(self):
        self._pieces.put(b'')

    def _work(self):
        while piece := self._pieces.get():
            self._ours.send(bytes([self._write(piece)]))

    def _write(self, piece):
        while piece:
            try:
                piece = piece[os.write(self._descriptor, piece):]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
            except OSError as error:
                return error.errno
        return 0


def say(text):
    """One line on stderr, if somebody reads it in time."""
    outlet = Outlet(2)
    outlet.put(f'janus-qemu: {" ".join(str(text).splitlines())}\n'.encode(errors='surrogateescape'))
    select.select([outlet.done], [], [], LAST_WORDS_S)
    outlet.close()

# SPDX-License-Identifier: Apache-2.0
"""Writes to a descriptor whose reader may be stuck. A thread of its own waits for the reader, so that no other thread has to;
it ends with the process. O_NONBLOCK is left as it is, because it belongs to the open file, which other processes share."""
import os
import queue
import select
import socket
import threading

LAST_WORDS_S = 1    # how long a reader may take for the remaining output once janus-qemu is about to end


class Outlet:
    """Takes one piece at a time. Once the piece is written, or cannot be, `done` has a byte to read: 0, or the error number."""

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
    """Writes one line to stderr; gives up if the reader does not take it in time."""
    outlet = Outlet(2)
    outlet.put(f'janus-qemu: {" ".join(str(text).splitlines())}\n'.encode(errors='surrogateescape'))
    select.select([outlet.done], [], [], LAST_WORDS_S)
    outlet.close()

# SPDX-License-Identifier: Apache-2.0
"""Finds out what kind of program a file is: an image that boots by itself has a note of the PVH boot protocol."""
import enum
import os
import stat
import struct

from janus_qemu.refusal import Refusal

X86_64 = 62
SHARED = 3                                   # ET_DYN: a library, or a position-independent program
LOAD, DYNAMIC, INTERPRETER, NOTE = 1, 2, 3, 4
NAME, FLAGS_1, IS_PROGRAM = 14, 0x6ffffffb, 0x08000000  # DT_SONAME, DT_FLAGS_1, DF_1_PIE
PVH_ENTRY = (b'Xen\0', 18)  # XEN_ELFNOTE_PHYS32_ENTRY


class Kind(enum.Enum):
    IMAGE = 'boots by itself'
    LINUX = 'a static program for Linux'


def kind_of(path):
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Refusal(f'{path} is no regular file')
        with open(path, 'rb') as file:
            data = file.read()
    except OSError as error:
        raise Refusal(f'{path}: {error.strerror}') from error
    if data[:5] != b'\x7fELF\x02' or len(data) < 64 or struct.unpack_from('<H', data, 18)[0] != X86_64:
        raise Refusal(f'{path} is no program for x86_64 (a 64-bit ELF file)')
    try:
        segments = list(_segments(data))
        if any((name, kind) == PVH_ENTRY for name, kind in _notes(data, segments)):
            return Kind.IMAGE
        is_library = struct.unpack_from('<H', data, 16)[0] == SHARED and not _is_program(_dynamic(data, segments))
    except (struct.error, IndexError) as error:
        raise Refusal(f'{path} is cut off: its headers point behind its end') from error
    if any(kind == INTERPRETER for kind, _, _ in segments):
        raise Refusal(f'{path} needs a dynamic loader; only one static file can be booted')
    if not any(kind == LOAD for kind, _, _ in segments):
        raise Refusal(f'{path} is no program: it has nothing to load (an object file?)')
    if is_library:
        raise Refusal(f'{path} is a shared library; only a program can be booted')
    return Kind.LINUX


def _segments(data):
    """Yields (type, offset, bytes) of each program header."""
    table, = struct.unpack_from('<Q', data, 32)
    size, count = struct.unpack_from('<HH', data, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack_from('<IIQQQQ', data, table + number * size)
        if offset + length > len(data):
            raise IndexError
        yield kind, offset, length


def _dynamic(data, segments):
    """The entries of the dynamic section before the first DT_NULL: values by tag."""
    found = {}
    for kind, offset, length in segments:
        for at in range(offset, offset + length - 15, 16) if kind == DYNAMIC else ():
            tag, value = struct.unpack_from('<QQ', data, at)
            if tag == 0:
                break
            found[tag] = value
    return found


def _is_program(dynamic):
    """Linkers mark a position-independent program (-static-pie) with DF_1_PIE, and give a library a DT_SONAME."""
    return NAME not in dynamic and dynamic.get(FLAGS_1, 0) & IS_PROGRAM != 0


def _notes(data, segments):
    """Yields (name, type) of each note."""
    for kind, offset, length in segments:
        at, end = offset, offset + length
        while kind == NOTE and at + 12 <= end:
            name_bytes, content_bytes, what = struct.unpack_from('<III', data, at)
            yield data[at + 12:at + 12 + name_bytes], what
            at += 12 + (name_bytes + 3 & ~3) + (content_bytes + 3 & ~3)

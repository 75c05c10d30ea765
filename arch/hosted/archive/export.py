#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# export.py ARCHIVE HEADERS OUT COMPILER...: makes the shared object OUT of libjanus_hosted.a. It exports the functions that the public headers below
# HEADERS declare, and nothing else. They are hidden in the archive, so that a host's own shared object does not export them; objcopy cannot
# undo that, so this script edits the symbol table.
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SYMBOLS, SYMBOL_BYTES = 2, 24  # SHT_SYMTAB, sizeof(Elf64_Sym)


def symbol_table(elf):
    """The offset and size of the symbol table, and the offset of its names."""
    at, = struct.unpack_from('<Q', elf, 0x28)
    bytes_of_header, count = struct.unpack_from('<HH', elf, 0x3a)
    sections = [struct.unpack_from('<IIQQQQIIQQ', elf, at + i * bytes_of_header) for i in range(count)]
    table = next(section for section in sections if section[1] == SYMBOLS)
    return table[4], table[5], sections[table[6]][4]


def make_visible(elf, names):
    """Returns those of the names that the object defines."""
    start, size, text = symbol_table(elf)
    found = set()
    for at in range(start, start + size, SYMBOL_BYTES):
        name, _, _, section = struct.unpack_from('<IBBH', elf, at)
        word = elf[text + name:elf.index(b'\0', text + name)].decode()
        if section != 0 and word in names:
            elf[at + 5] = 3  # STV_PROTECTED: the calls among them stay direct
            found.add(word)
    return found


def main():
    archive, headers, out, *compiler = sys.argv[1:]
    names = {name for header in pathlib.Path(headers).rglob('*.h') for name in re.findall(r'\bjanus_\w+(?=\()', header.read_text())}
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work, 'janus.o')
        path.write_bytes(subprocess.run(['ar', 'p', archive], capture_output=True, check=True).stdout)
        elf = bytearray(path.read_bytes())
        exported = make_visible(elf, names)
        path.write_bytes(elf)
        script = pathlib.Path(work, 'exports')
        script.write_text('{ global: ' + ' '.join(f'{name};' for name in sorted(exported)) + ' local: *; };\n')
        subprocess.run([*compiler, '-shared', '-Wl,-z,defs', '-Wl,-soname,libjanus.so', f'-Wl,--version-script={script}', path, '-pthread', '-o', out],
                       check=True)


if __name__ == '__main__':
    main()

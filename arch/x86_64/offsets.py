#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# offsets.py OUTPUT DEPFILE COMPILER... — compiles a table of Offset (offsets.h) with the compiler that builds
# everything else and writes it as a header for the assembler, so that no offset is ever typed by hand.
import struct
import subprocess
import sys

SECTION = ".janus_offsets"
RECORD = struct.Struct("<56sQ")


def section(elf, wanted):
    """The bytes of the section called `wanted` in a 64-bit little-endian ELF file."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_size) for i in range(count)]
    names = headers[names_index][4]
    for name, _, _, _, offset, size in headers:
        end = elf.index(b"\0", names + name)
        if elf[names + name:end].decode() == wanted:
            return elf[offset:offset + size]
    sys.exit(f"offsets.py: no section {wanted}")


def main():
    output, depfile = sys.argv[1:3]
    obj = output + ".o"
    subprocess.run(sys.argv[3:] + ["-MD", "-MF", depfile, "-MT", output, "-c", "-o", obj], check=True)
    with open(obj, "rb") as file:
        records = list(RECORD.iter_unpack(section(file.read(), SECTION)))
    with open(output, "w", encoding="ascii") as file:
        file.write("// Generated from the C++ structs by offsets.py; do not edit.\n#pragma once\n")
        for name, value in records:
            file.write(f"#define {name.rstrip(bytes(1)).decode()} {value}\n")


main()

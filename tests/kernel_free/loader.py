# SPDX-License-Identifier: Apache-2.0
# loader.py — a PVH loader that passes whatever a test wants. It wraps an image into another one: QEMU's loader loads
# the latter, which enters the image with the test's start info.
import struct

# Above the image and its first page tables.
ENTRY, INFO, MEMORY_MAP, MODULES, COMMAND_LINE, TABLES = (0x2000000 + n * 0x10000 for n in range(6))
RAM, RESERVED = 1, 2
MIB = 1 << 20
PC_MEMORY = ((0, 0x9fc00, RAM), (MIB, 127 * MIB, RAM))


def start_info(*, magic=0x336ec578, version=1, modules=(), module_list=MODULES, line='prog 15', command_line=COMMAND_LINE, rsdp=0,
               memory=PC_MEMORY, memory_map=MEMORY_MAP, memory_count=None):
    """The contents of memory: pairs of (address, bytes)."""
    yield INFO, struct.pack('<IIIIQQQQII', magic, version, 0, len(modules), module_list, command_line, rsdp, memory_map,
                            len(memory) if memory_count is None else memory_count, 0)
    yield MEMORY_MAP, b''.join(struct.pack('<QQII', *entry, 0) for entry in memory)
    yield MODULES, b''.join(struct.pack('<QQQQ', address, size, 0, 0) for address, size in modules)
    yield COMMAND_LINE, line.encode() + b'\0'


def _enter(image_entry, first):
    """`first`; mov $INFO, %ebx; jmp image_entry"""
    return first + b'\xbb' + struct.pack('<I', INFO) + b'\xe9' + struct.pack('<i', image_entry - (ENTRY + len(first) + 10))


def forget_firmware():
    """Code that clears the firmware's tables of a q35: at the end of low memory, and below 1 MiB, which the chip set makes
    writable first (PAM, 90h to 96h of bus 0, device 0)."""
    def mov(register, value):
        return bytes([0xb8 + register]) + struct.pack('<I', value)

    eax, ecx, edx, edi = 0, 1, 2, 7
    out_byte, out_word, out_all, store_all = b'\xee', b'\x66\xef', b'\xef', b'\x31\xc0\xf3\xab'
    address, data = mov(edx, 0xcf8) + out_all, mov(eax, 0x33333333)
    yield mov(eax, 0x80000090) + address + data + mov(edx, 0xcfc) + out_all
    yield mov(eax, 0x80000094) + address + data + mov(edx, 0xcfc) + out_word + mov(edx, 0xcfe) + out_byte
    for begin, end in ((0x9f000, 0xa0000), (0xe0000, 0x100000)):
        yield mov(edi, begin) + mov(ecx, (end - begin) // 4) + store_all


def static_noughts(image):
    """The range of the image's zero-initialised memory, which is not in its file: (begin, end)."""
    data = image.read_bytes()
    table, = struct.unpack_from('<Q', data, 32)
    size, count = struct.unpack_from('<HH', data, 54)
    for n in range(count):
        kind, _, _, address, _, length, memory, _ = struct.unpack_from('<IIQQQQQQ', data, table + n * size)
        if kind == 1 and memory > length:
            return address + length, address + memory


def spoil(begin, end):
    """Code that fills memory with ones, so that the program cannot rely on zeroed memory."""
    return b'\xbf' + struct.pack('<I', begin) + b'\xb9' + struct.pack('<I', end - begin) + b'\xb0\xff\xf3\xaa'


def _pvh_entry(data, offset, size):
    at = offset
    while at + 12 <= offset + size:
        names, contents, kind = struct.unpack_from('<III', data, at)
        content = at + 12 + (names + 3 & ~3)
        if data[at + 12:at + 12 + names] == b'Xen\0' and kind == 18:
            return int.from_bytes(data[content:content + contents], 'little')
        at = content + (contents + 3 & ~3)
    return None


def wrap(image, output, pieces, first=b''):
    """Writes `output`: `image` at its own addresses and `pieces` beside it, entered at ENTRY with the code of `first`."""
    data = image.read_bytes()
    table, = struct.unpack_from('<Q', data, 32)
    size, count = struct.unpack_from('<HH', data, 54)
    loads, entry = [], None
    for n in range(count):
        kind, flags, offset, address, physical, length, memory, align = struct.unpack_from('<IIQQQQQQ', data, table + n * size)
        if kind == 1:
            loads.append((address, data[offset:offset + length], memory))
        if kind == 4:
            entry = entry or _pvh_entry(data, offset, length)
    loads += [(address, content, len(content)) for address, content in [(ENTRY, _enter(entry, first)), *pieces] if content]
    note = struct.pack('<III4sQ', 4, 8, 18, b'Xen\0', ENTRY)
    headers, body = b'', b''
    begin = 64 + 56 * (len(loads) + 1)
    for address, content, memory in loads:
        headers += struct.pack('<IIQQQQQQ', 1, 7, begin + len(body), address, address, len(content), memory, 1)
        body += content
    headers += struct.pack('<IIQQQQQQ', 4, 4, begin + len(body), 0, 0, len(note), len(note), 4)
    head = data[:24] + struct.pack('<QQQ', ENTRY, 64, 0) + struct.pack('<IHHHHHH', 0, 64, 56, len(loads) + 1, 0, 0, 0)
    output.write_bytes(head + headers + body + note)


# --- ACPI tables ---


def _summed(table, at):
    table = bytearray(table)
    table[at] = -sum(table) & 255
    return bytes(table)


def acpi_table(name, content):
    return _summed(struct.pack('<4sIBB6s8sI4sI', name, 36 + len(content), 1, 0, b'JANUS ', b'TEST    ', 1, b'TEST', 1) + content, 9)


def madt(ids):
    return acpi_table(b'APIC', struct.pack('<II', 0xfee00000, 1) + b''.join(struct.pack('<BBHIII', 9, 16, 0, n, 1, n) for n in ids))


def acpi(controllers, directory=None):
    """Root, directory and the table of interrupt controllers, as pieces; the root is at TABLES."""
    directory = directory or acpi_table(b'XSDT', struct.pack('<Q', TABLES + 0x1000))
    root = _summed(struct.pack('<8sB6sBI', b'RSD PTR ', 0, b'JANUS ', 2, 0), 8)
    yield TABLES, _summed(root + struct.pack('<IQBBH', 36, TABLES + 0x100, 0, 0, 0), 32)
    yield TABLES + 0x100, directory
    yield TABLES + 0x1000, controllers

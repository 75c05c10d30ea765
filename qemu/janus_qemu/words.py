# SPDX-License-Identifier: Apache-2.0
"""Encodes settings and arguments as a guest's command line."""
import os

from janus_qemu.refusal import Refusal

# The longest line that arrives whole, in bytes. QEMU's loader for q35 has room for 4,095 and writes past it, over the start
# info, without a check; a janus-rt image reads 4,096, of which a microvm uses up to 74 for the addresses of its devices.
IMAGE_LINE = 4000
DEVICE = 'virtio_mmio.device='   # kernel-free/firmware/command_line.h
LINUX_LINE = 2047     # bytes that Linux on x86 takes
LINUX_WORDS = 31      # arguments that the kernel passes to init, and as many settings
# The console belongs to the program: the kernel prints nothing unless it panics, and then resets at once. It runs a single
# program, so it needs neither mitigations nor its cryptographic self-tests, which take a third of the time until init starts.
LINUX_KERNEL = ['console=ttyS0', 'quiet', 'loglevel=0', 'panic=-1', 'mitigations=off', 'cryptomgr.notests']
LINUX_INIT = ['JANUS_INIT=/dev/ttyS1']   # arch/linux/process/init.h


def quoted(word):
    """Quotes a word for an image without a kernel: in quotation marks if it needs them, with \\ before " and \\."""
    if word and not any(c in ' \t\n\r\v\f"\\' for c in word):
        return word
    return '"' + word.replace('\\', '\\\\').replace('"', '\\"') + '"'


def check_none_is_taken(arguments):
    """Refuses words that an image would misread: it removes quotation marks before it decides which words at the beginning are
    settings and which at the end describe devices."""
    program, last = arguments[0], arguments[-1]
    if program.startswith('JANUS_') and '=' in program:
        raise Refusal(f'{program} would be taken for a setting: say ./{program}')
    if last.startswith(DEVICE):
        raise Refusal(f'the last argument cannot be {last}: a machine says by such words where its devices are')


def for_image(settings, arguments):
    check_none_is_taken(arguments)
    line = ' '.join(quoted(word) for word in [*settings, *arguments])
    if len(os.fsencode(line)) > IMAGE_LINE:
        raise Refusal(f"the arguments and settings do not fit into a machine's command line of {IMAGE_LINE} bytes")
    return line


def quoted_for_linux(word):
    """Quotes a word for Linux, which allows quotation marks around a word but none inside it."""
    if '"' in word or '\n' in word:
        raise Refusal(f"a kernel's command line cannot hold a quotation mark or a new line: {word!r}")
    if word == '--':
        raise Refusal("a kernel's command line ends at `--`, so it cannot be an argument")
    return f'"{word}"'


def for_linux(settings, arguments):
    for what, some in (('settings', settings), ('arguments', arguments)):
        if len(some) > LINUX_WORDS - 1:
            raise Refusal(f'{len(some)} {what}: a kernel hands its init no more than {LINUX_WORDS - 1}')
    line = ' '.join([*LINUX_KERNEL, *LINUX_INIT, *map(quoted_for_linux, settings), '--', *map(quoted_for_linux, arguments)])
    if len(os.fsencode(line)) > LINUX_LINE:
        raise Refusal(f"the arguments do not fit into a kernel's command line of {LINUX_LINE} bytes")
    return line

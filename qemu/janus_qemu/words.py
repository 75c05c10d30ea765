# SPDX-License-Identifier: Apache-2.0
"""Settings and arguments as a guest's command line."""
import os

from janus_qemu.refusal import Refusal

# Bytes that arrive whole. The loader for QEMU's q35 has room for 4,095 and writes on without looking, over the start info, and an
# image of ours takes 4,096, to which a microvm adds up to 74 for where its devices are.
IMAGE_LINE = 4000
DEVICE = 'virtio_mmio.device='   # kernel-free/boot/command_line.h
LINUX_LINE = 2047     # bytes that Linux on x86 takes
LINUX_WORDS = 31      # arguments, and likewise settings, that it hands to init
# The console is the program's: the kernel is silent unless it panics, and then resets at once. It has one program to
# serve, so it need not guard it from others, nor try out its cryptography, which takes a third of the way to init.
LINUX_KERNEL = ['console=ttyS0', 'quiet', 'loglevel=0', 'panic=-1', 'mitigations=off', 'cryptomgr.notests']
LINUX_INIT = ['JANUS_INIT=/dev/ttyS1']   # arch/linux/start/init.h


def quoted(word):
    """A word as images without a kernel read it: in quotation marks where it needs them, with \\ before " and \\."""
    if word and not any(c in ' \t\n\r\v\f"\\' for c in word):
        return word
    return '"' + word.replace('\\', '\\\\').replace('"', '\\"') + '"'


def check_none_is_taken(arguments):
    """Images take quotation marks away before they ask which words are settings, and which at the end are about devices."""
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
    """Linux knows quotation marks around a word, and no way to have one within."""
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

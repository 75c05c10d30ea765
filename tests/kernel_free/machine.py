# SPDX-License-Identifier: Apache-2.0
# machine.py — machines that janus-qemu would not make.
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'programs'))
from installed import run  # noqa: E402


def bare_command(image, status, *options, line='prog', cpu='max', machine='q35'):
    """Its console is stdout; what it says on its status port goes into the file `status`."""
    return ['qemu-system-x86_64', '-machine', machine, '-accel', 'tcg', '-cpu', cpu, '-nodefaults', '-display', 'none', '-no-reboot',
            '-chardev', 'stdio,id=console,signal=off', '-device', 'isa-serial,chardev=console,index=0',
            '-chardev', f'file,id=status,path={status}', '-device', 'isa-serial,chardev=status,index=1',
            '-device', 'isa-debug-exit,iobase=0xf4,iosize=4', '-kernel', image, '-append', line, *options]


def bare_qemu(image, *options, timeout=60, **more):
    """Console, the line on the status port, QEMU's own status."""
    status = image.with_suffix('.status')
    status.unlink(missing_ok=True)
    done = run(bare_command(image, status, *options, **more), timeout=timeout)
    said = status.read_text() if status.exists() else ''
    return done.stdout.decode(errors='replace'), said, done.returncode

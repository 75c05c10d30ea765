# SPDX-License-Identifier: Apache-2.0
# machine.py — what tests of whole machines begin with, images, and machines that janus-qemu would not make.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'programs'))
from installed import PATIENCE, Tap, environment, install, run, run_emulator, skip_all_without, work_directory  # noqa: E402


def prepare():
    """Where results go, a directory to work in, and janus-cc and janus-qemu as they are installed from the build that the
    command line names first. Without an emulator the test ends here."""
    skip_all_without('qemu-system-x86_64')
    tap, work = Tap(), work_directory()
    janus_cc = install(sys.argv[1], work)
    return tap, work, janus_cc, janus_cc.parent / 'janus-qemu'


def compiles(tap, janus_cc, source, output, *libraries, target='bare'):
    """A program becomes an image at `output`; whether it did, which is a result of its own."""
    made = run([janus_cc, f'--target={target}', '-O2', '-Wall', '-Wextra', '-Werror', source, *libraries, '-o', output], timeout=120, env=environment())
    return tap.check(f'janus-cc --target={target} compiles {source.name} without a word', made.returncode == 0 and not made.stderr, made.stderr.decode())


def bare_command(image, status, *options, line='prog', cpu='max', machine='q35'):
    """Its console is stdout; what it says on its status port goes into the file `status`."""
    return ['qemu-system-x86_64', '-machine', machine, '-accel', 'tcg', '-cpu', cpu, '-nodefaults', '-display', 'none', '-no-reboot',
            '-chardev', 'stdio,id=console,signal=off', '-device', 'isa-serial,chardev=console,index=0',
            '-chardev', f'file,id=status,path={status}', '-device', 'isa-serial,chardev=status,index=1',
            '-device', 'isa-debug-exit,iobase=0xf4,iosize=4', '-kernel', image, '-append', line, *options]


def bare_qemu(image, *options, seconds=60, **more):
    """Console, the line on the status port, QEMU's own status."""
    status = image.with_suffix('.status')
    status.unlink(missing_ok=True)
    done = run_emulator(bare_command(image, status, *options, **more), seconds)
    said = status.read_text() if status.exists() else ''
    return done.stdout.decode(errors='replace'), said, done.returncode

# SPDX-License-Identifier: Apache-2.0
# machine.py — common parts of tests of whole machines: images, and machines that janus-qemu does not make.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'programs'))
from installed import PATIENCE, Tap, environment, install, run, run_emulator, skip_all_without, work_directory  # noqa: E402


def prepare():
    """Returns the collector of results, a work directory, and the installed janus-cc and janus-qemu of the build that the
    command line names first. Without an emulator the test is skipped."""
    skip_all_without('qemu-system-x86_64')
    tap, work = Tap(), work_directory()
    janus_cc = install(sys.argv[1], work)
    return tap, work, janus_cc, janus_cc.parent / 'janus-qemu'


def compiles(tap, janus_cc, source, output, *libraries, target='bare'):
    """Compiles a program into an image at `output`; returns whether that worked, which is also a result."""
    made = run([janus_cc, f'--target={target}', '-O2', '-Wall', '-Wextra', '-Werror', source, *libraries, '-o', output], timeout=120, env=environment())
    return tap.check(f'janus-cc --target={target} compiles {source.name} without a word', made.returncode == 0 and not made.stderr, made.stderr.decode())


def bare_command(image, status, *options, line='prog', cpu='max', machine='q35'):
    """The console is on stdout; the line on the status port goes into the file `status`."""
    return ['qemu-system-x86_64', '-machine', machine, '-accel', 'tcg', '-cpu', cpu, '-nodefaults', '-display', 'none', '-no-reboot',
            '-chardev', 'stdio,id=console,signal=off', '-device', 'isa-serial,chardev=console,index=0',
            '-chardev', f'file,id=status,path={status}', '-device', 'isa-serial,chardev=status,index=1',
            '-device', 'isa-debug-exit,iobase=0xf4,iosize=4', '-kernel', image, '-append', line, *options]


def bare_qemu(image, *options, seconds=60, **more):
    """Returns the console's output, the line on the status port, and QEMU's own status."""
    status = image.with_suffix('.status')
    status.unlink(missing_ok=True)
    done = run_emulator(bare_command(image, status, *options, **more), seconds)
    said = status.read_text() if status.exists() else ''
    return done.stdout.decode(errors='replace'), said, done.returncode

# SPDX-License-Identifier: Apache-2.0
"""QEMU, and how it is told to be a machine with two serial ports and nothing else that speaks."""
import dataclasses
import pathlib
import shutil

from janus_qemu.refusal import Refusal

NAMES = ('q35', 'microvm')
DEBUG_EXIT_DONE = 0x10                        # what the guest writes to port 0xf4
STATUS_DONE = DEBUG_EXIT_DONE << 1 | 1        # what QEMU makes of it


def find_qemu():
    qemu = shutil.which('qemu-system-x86_64')
    if qemu is None:
        raise Refusal('qemu-system-x86_64 is not installed (Debian: qemu-system-x86)')
    return pathlib.Path(qemu)


@dataclasses.dataclass(frozen=True)
class Machine:
    qemu: pathlib.Path
    name: str
    cpus: int
    memory: int               # MiB
    accelerator: str
    disk: pathlib.Path | None = None

    def machine_option(self):
        """Where a microvm describes itself by ACPI it does so in programs (AML); without, by words on the command line."""
        return self.name + ',acpi=off' if self.name == 'microvm' and self.disk else self.name

    def disk_options(self):
        """A virtio block device of version 1.0, which only reads the file: on PCI, or on a microvm at an address."""
        if self.disk is None:
            return []
        file = str(self.disk).replace(',', ',,')
        device = 'virtio-blk-device' if self.name == 'microvm' else 'virtio-blk-pci,disable-legacy=on'
        return ['-blockdev', f'driver=file,node-name=file,filename={file},read-only=on,auto-read-only=off',
                '-blockdev', 'driver=raw,node-name=disk,file=file,read-only=on', '-global', 'virtio-mmio.force-legacy=false',
                '-device', f'{device},drive=disk']

    def command(self, boot, status_fd):
        """The console, COM1, is QEMU's stdout; the status port, COM2, is the socket `status_fd`."""
        return [str(self.qemu), '-no-user-config', '-nodefaults', '-display', 'none', '-no-reboot',
                '-machine', self.machine_option(), '-accel', self.accelerator, '-cpu', 'host' if self.accelerator == 'kvm' else 'max',
                '-smp', str(self.cpus), '-m', f'{self.memory}M',
                '-chardev', 'stdio,id=console,signal=off', '-device', 'isa-serial,chardev=console,index=0',
                '-chardev', f'socket,id=status,fd={status_fd}', '-device', 'isa-serial,chardev=status,index=1',
                '-device', 'isa-debug-exit,iobase=0xf4,iosize=4', *self.disk_options(), *boot]

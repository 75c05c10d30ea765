# SPDX-License-Identifier: Apache-2.0
"""QEMU's command line for a machine with two serial ports, perhaps a virtio console, and no other device for output."""
import dataclasses
import pathlib
import shutil

from janus_qemu.refusal import Refusal

NAMES = ('q35', 'microvm')
CONSOLES = ('virtio', 'serial')
DEBUG_EXIT_DONE = 0x10                        # the value that the guest writes to port 0xf4
STATUS_DONE = DEBUG_EXIT_DONE << 1 | 1        # the status with which QEMU then exits


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
    console: str = 'serial'   # or 'virtio'

    def machine_option(self):
        """With ACPI a microvm describes its virtio devices in AML, which images do not interpret; without it, by words on the
        kernel's command line. So ACPI is off if there are such devices."""
        has_devices = self.disk is not None or self.console == 'virtio'
        return self.name + ',acpi=off' if self.name == 'microvm' and has_devices else self.name

    def virtio(self, kind, properties):
        """The options for a virtio device of version 1.0: on PCI, or memory-mapped on a microvm."""
        device = f'virtio-{kind}-device' if self.name == 'microvm' else f'virtio-{kind}-pci,disable-legacy=on'
        return ['-global', 'virtio-mmio.force-legacy=false', '-device', f'{device},{properties}']

    def console_options(self):
        """The options for a virtio console, which writes to the same place as the serial port. Without ioeventfd, the CPU that
        notifies the device does the device's work itself: the guest waits for it anyhow."""
        if self.console != 'virtio':
            return []
        at_once = ['-global', f'virtio-{"mmio" if self.name == "microvm" else "serial-pci"}.ioeventfd=off']
        return [*at_once, *self.virtio('serial', 'max_ports=1'), '-device', 'virtconsole,chardev=console']

    def disk_options(self):
        """The options for a read-only block device on the disk's file."""
        if self.disk is None:
            return []
        file = str(self.disk).replace(',', ',,')
        return ['-blockdev', f'driver=file,node-name=file,filename={file},read-only=on,auto-read-only=off',
                '-blockdev', 'driver=raw,node-name=disk,file=file,read-only=on', *self.virtio('blk', 'drive=disk')]

    def command(self, boot, status_fd, control_fd):
        """QEMU's command line. The console, COM1 and perhaps virtio's, is QEMU's stdout; the status port, COM2, is the socket
        `status_fd`. The machine does not run until it is told to by `control_fd`, in QEMU's machine protocol (QMP)."""
        return [str(self.qemu), '-no-user-config', '-nodefaults', '-display', 'none', '-no-reboot',
                '-machine', self.machine_option(), '-accel', self.accelerator, '-cpu', 'host' if self.accelerator == 'kvm' else 'max',
                '-smp', str(self.cpus), '-m', f'{self.memory}M',
                '-S', '-chardev', f'socket,id=control,fd={control_fd}', '-mon', 'chardev=control,mode=control',
                '-chardev', 'stdio,id=console,signal=off,mux=on', '-device', 'isa-serial,chardev=console,index=0',
                '-chardev', f'socket,id=status,fd={status_fd}', '-device', 'isa-serial,chardev=status,index=1',
                '-device', 'isa-debug-exit,iobase=0xf4,iosize=4', *self.console_options(), *self.disk_options(), *boot]

# SPDX-License-Identifier: Apache-2.0
"""KVM, where a guest like the one to come was seen to run under it; else TCG. A /dev/kvm that opens proves nothing:
some hang their guests, and some take seconds for what is emulated in milliseconds."""
import json
import os
import pathlib

from janus_qemu import kernel as kernels
from janus_qemu.machine import Machine
from janus_qemu.refusal import Refusal
from janus_qemu.session import KERNEL_ENDED, Session

DEVICE = '/dev/kvm'
IMAGE_SECONDS, LINUX_SECONDS = 4, 8      # TCG takes 0.2 and 2
# Without a file system Linux gets as far as to look for one, panics, and resets.
LINUX_TO_ITS_END = 'panic=-1 quiet loglevel=0'


def choose(qemu, machine_name, kernel, package_home):
    """'kvm' or 'tcg', for a machine that boots `kernel`, or if it is None an image without one."""
    named = os.environ.get('JANUS_ACCELERATOR')
    if named:
        if named not in ('kvm', 'tcg'):
            raise Refusal(f'JANUS_ACCELERATOR wants kvm or tcg, not {named!r}')
        return named
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return 'tcg'
    question = f'{qemu} {qemu.stat().st_mtime_ns} {machine_name} {kernel}'
    findings = Findings()
    works = findings.get(question)
    if works is None:
        works = probe(qemu, machine_name, kernel, package_home)
        findings.put(question, works)
    return 'kvm' if works else 'tcg'


def probe(qemu, machine_name, kernel, package_home):
    image = package_home / 'probe.elf'
    if kernel is None and not image.exists():
        return False
    boot = ['-kernel', str(kernel), '-append', LINUX_TO_ITS_END] if kernel else ['-kernel', str(image)]
    session = Session(Machine(qemu, machine_name, 1, 256, 'kvm'), boot, kernel is not None, console=None)
    session.run(LINUX_SECONDS if kernel else IMAGE_SECONDS)
    ended_well = session.explanation == KERNEL_ENDED if kernel else session.status == 0
    return ended_well and not session.complaints  # some warn that the processor lacks what every one has


class Findings:
    """What was found out since this machine started."""

    def __init__(self):
        self._path = kernels.cache() / 'accelerator.json'
        self._boot = pathlib.Path('/proc/sys/kernel/random/boot_id')
        try:
            self._boot = self._boot.read_text().strip()
            self._known = json.loads(self._path.read_text()).get(self._boot, {})
        except (OSError, ValueError, AttributeError):
            self._known = {}

    def get(self, question):
        return self._known.get(question)

    def put(self, question, answer):
        self._known[question] = answer
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new = self._path.with_suffix(f'.{os.getpid()}')
            new.write_text(json.dumps({str(self._boot): self._known}))
            new.replace(self._path)
        except OSError:
            pass  # the next run asks again

# SPDX-License-Identifier: Apache-2.0
"""Chooses KVM if a probe, a guest of the same kind, was seen to run under it; else TCG. That /dev/kvm can be opened proves
nothing: on some hosts guests hang under KVM, on others they need seconds for what TCG emulates in milliseconds."""
import json
import os
import pathlib

from janus_qemu import kernel as kernels
from janus_qemu.machine import Machine
from janus_qemu.refusal import Refusal
from janus_qemu.session import KERNEL_ENDED, Session

DEVICE = '/dev/kvm'
IMAGE_SECONDS, LINUX_SECONDS = 4, 8      # limits for the probe; TCG takes 0.2 and 2
# Without a file system Linux boots until it looks for one, panics, and resets.
LINUX_TO_ITS_END = 'panic=-1 quiet loglevel=0'


def choose(qemu, machine_name, kernel, package_home):
    """Returns 'kvm' or 'tcg' for a machine that boots the Linux `kernel`, or, if that is None, an image without a kernel."""
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
    return ended_well and not session.complaints  # sometimes QEMU warns that KVM lacks a feature of every processor


class Findings:
    """The results of probes, kept in a file and valid until the host reboots."""

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

# SPDX-License-Identifier: Apache-2.0
# docs/decisions/0122
"""Finds the Linux kernel to boot."""
import os
import pathlib
import re

from janus_qemu.refusal import Refusal


def cache():
    """The directory where downloads and results of probes are kept for the next run."""
    return pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'janus-rt'


def by_version(path):
    return [int(number) for number in re.findall(r'\d+', path.name)]


def find():
    chosen = os.environ.get('JANUS_KERNEL')
    if chosen:
        if not os.access(chosen, os.R_OK) or not os.path.isfile(chosen):
            raise Refusal(f'JANUS_KERNEL={chosen}: no kernel that can be read')
        return pathlib.Path(chosen)
    for home in (pathlib.Path('/boot'), cache() / 'boot'):
        kernels = [path for path in home.glob('vmlinuz-*cloud*') if os.access(path, os.R_OK)]
        if kernels:
            return max(kernels, key=by_version)
    raise Refusal('no kernel: ./dev qemu --linux gets one, or name one by JANUS_KERNEL')

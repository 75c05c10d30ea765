#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oci_image.py PROGRAM [-o DIR] — writes an OCI image layout to DIR (default: NAME.oci) that holds only the program: no shell and
no libraries. The program runs as user 65534. The same file under the same name gives the same bytes, and so the same digest, which
is printed. docs/decisions/0123"""
import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'qemu'))
from janus_qemu import elf  # noqa: E402
from janus_qemu.refusal import Refusal  # noqa: E402

USAGE = 'usage: ./dev image PROGRAM [-o DIR]'
NOBODY = 65534
MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
CONFIG = 'application/vnd.oci.image.config.v1+json'
LAYER = 'application/vnd.oci.image.layer.v1.tar'
PLATFORM = {'architecture': 'amd64', 'os': 'linux'}
ALWAYS = '1970-01-01T00:00:00Z'  # no time of the build, so that the image is reproducible


def layer_of(name, content):
    """Returns a tar of one file that every user may read and execute and none may write, without a time or an owner."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o555
    out = io.BytesIO()
    try:
        with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as tar:
            tar.addfile(entry, io.BytesIO(content))
    except (ValueError, UnicodeError) as error:
        raise Refusal(f'{name} is no name for a file in an image: {error}') from error
    return out.getvalue()


class Layout:
    def __init__(self, directory):
        self._directory = directory
        (directory / 'blobs/sha256').mkdir(parents=True)

    def add(self, media_type, content):
        """Stores a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self._directory / 'blobs/sha256' / digest).write_bytes(content)
        return {'mediaType': media_type, 'digest': f'sha256:{digest}', 'size': len(content)}

    def finish(self, manifest):
        write_json(self._directory / 'oci-layout', {'imageLayoutVersion': '1.0.0'})
        named = {**manifest, 'platform': PLATFORM, 'annotations': {'org.opencontainers.image.ref.name': 'latest'}}
        write_json(self._directory / 'index.json', {'schemaVersion': 2, 'manifests': [named]})


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(',', ':')).encode()


def write_json(path, value):
    path.write_bytes(encoded(value) + b'\n')


def build(directory, name, content):
    """Writes the layout; returns the digest of the image's manifest."""
    layout = Layout(directory)
    layer = layout.add(LAYER, layer_of(name, content))
    config = layout.add(CONFIG, encoded({
        **PLATFORM, 'created': ALWAYS,
        'config': {'User': f'{NOBODY}:{NOBODY}', 'Entrypoint': [f'/{name}'], 'WorkingDir': '/', 'StopSignal': 'SIGTERM'},
        'rootfs': {'type': 'layers', 'diff_ids': [layer['digest']]},
        'history': [{'created': ALWAYS, 'created_by': 'janus-rt: one static file, FROM scratch'}]}))
    manifest = layout.add(MANIFEST, encoded({'schemaVersion': 2, 'mediaType': MANIFEST, 'config': config, 'layers': [layer]}))
    layout.finish(manifest)
    return manifest['digest']


def check_program(path):
    if elf.kind_of(path) != elf.Kind.LINUX:
        raise Refusal(f'{path} boots without a kernel; a container runs programs for Linux')


def replace(new, directory):
    """Moves the layout `new` to `directory`, replacing an older layout; refuses to replace anything else."""
    if directory.exists() and not (directory / 'oci-layout').is_file():
        raise Refusal(f'{directory} is there and is no image')
    shutil.rmtree(directory, ignore_errors=True)
    new.chmod(0o755)
    new.rename(directory)


def read_arguments(arguments):
    programs, output, rest = [], None, list(arguments)
    while rest:
        word = rest.pop(0)
        if word == '-o' and rest:
            output = rest.pop(0)
        elif word.startswith('-'):
            raise Refusal(USAGE)
        else:
            programs.append(word)
    if len(programs) != 1:
        raise Refusal(USAGE)
    program = pathlib.Path(programs[0])
    return program, pathlib.Path(output or f'{program.name}.oci')


def main():
    program, directory = read_arguments(sys.argv[1:])
    check_program(program)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix='.image-') as scratch:
            new = pathlib.Path(scratch, 'image')
            digest = build(new, program.name, program.read_bytes())
            replace(new, directory)
    except OSError as error:
        raise Refusal(f'{error.filename or directory}: {error.strerror}') from error
    print(digest)


if __name__ == '__main__':
    os.umask(0o022)
    try:
        main()
    except Refusal as refusal:
        print(f'dev image: {refusal}', file=sys.stderr)
        sys.exit(2)

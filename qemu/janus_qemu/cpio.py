# SPDX-License-Identifier: Apache-2.0
"""An initial RAM file system: a cpio archive in the format `newc`. The same input gives the same bytes."""
import os
import pathlib
import stat

from janus_qemu.refusal import Refusal

END = 'TRAILER!!!'    # the name of the entry that ends an archive; a file of that name is stored with ./ before it


class Archive:
    def __init__(self):
        self._entries = {}

    def add_tree(self, root):
        """Adds all directories, files, symbolic links and devices below the directory `root`. Sockets and pipes are left out."""
        def refuse(error):
            raise Refusal(f'{error.filename}: {error.strerror}') from error
        for directory, folders, files in os.walk(root, onerror=refuse):
            for name in [*folders, *files]:
                path = pathlib.Path(directory, name)
                try:
                    self._add_path(str(path.relative_to(root)), path)
                except OSError as error:
                    refuse(error)

    def _add_path(self, name, path):
        status = path.lstat()
        content = b''
        if stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(status.st_mode):
            content = os.fsencode(os.readlink(path))
        elif not stat.S_ISDIR(status.st_mode) and not stat.S_ISCHR(status.st_mode) and not stat.S_ISBLK(status.st_mode):
            return
        self._entries[name] = (status.st_mode, status.st_rdev, content)

    def add_file(self, name, content, permissions):
        self._add_parents(name)
        self._entries[name] = (stat.S_IFREG | permissions, 0, content)

    def add_device(self, name, major, minor):
        self._add_parents(name)
        self._entries[name] = (stat.S_IFCHR | 0o600, os.makedev(major, minor), b'')

    def _add_parents(self, name):
        for parent in list(pathlib.PurePath(name).parents)[:-1]:
            self._entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, 0, b''))

    def image(self):
        out = bytearray()
        for number, name in enumerate(sorted(self._entries, key=os.fsencode), 1):
            _append(out, number, f'./{name}' if name == END else name, *self._entries[name])
        _append(out, 0, END, 0, 0, b'')
        return bytes(out)


def _append(out, number, name, mode, device, content):
    if len(content) >= 1 << 32:
        raise Refusal(f'{name}: a file of 4 GiB and more does not fit into an initial RAM file system')
    encoded = os.fsencode(name) + b'\0'
    links, nobody, when = 1, 0, 0
    fields = (number, mode, nobody, nobody, links, when, len(content), 0, 0, os.major(device), os.minor(device), len(encoded), 0)
    out += b'070701' + b''.join(b'%08X' % field for field in fields) + encoded
    out += bytes(-len(out) % 4)
    out += content
    out += bytes(-len(out) % 4)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# debian_sources.py [NAME...] — builds libraries from Debian's sources, by their own build systems, with janus-cc. Runs
# their own tests where these need no more of a C library than there is, and uses each library in a program. The last
# line is a tally.
#
# The sources are fetched by apt-get, with lists and files in a directory of this script's own.
import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

# For each library: the package, the commands that build it in its folder, its own tests with what they must print, and
# what a program needs to use it.
LIBRARIES = {
    'zlib': ('zlib', ['./configure --static', 'make libz.a'], ('make test', 'zlib test OK'), '-I. libz.a'),
    'lz4': ('lz4', ['make -C lib CC=janus-cc BUILD_SHARED=no liblz4.a'], None, '-Ilib lib/liblz4.a'),
    'xxhash': ('xxhash', ['make CC=janus-cc libxxhash.a'], None, '-I. libxxhash.a'),
    'zstd': ('libzstd', ['make -C lib CC=janus-cc libzstd.a'], None, '-Ilib lib/libzstd.a'),
    'libdeflate': ('libdeflate', ['make CC=janus-cc libdeflate.a'], None, '-I. libdeflate.a'),
    'utf8proc': ('utf8proc', ['make CC=janus-cc libutf8proc.a'], None, '-I. libutf8proc.a'),
    'brotli': ('brotli', ['cmake -S. -Bb -DCMAKE_TOOLCHAIN_FILE={toolchain}', 'cmake --build b --target brotlidec-static'], None,
               '-Ic/include b/libbrotlidec-static.a b/libbrotlicommon-static.a'),
}
# Libraries that cannot be built, and what they lack.
BEYOND = {'cjson': 'needs math.h, locale.h and sscanf', 'brotli\'s encoder': 'needs log2 of math.h'}

tap = Tap()


def shell(command, **options):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900, **options)
    return done.returncode, done.stdout + done.stderr


def end_of(said):
    return '\n'.join(said.splitlines()[-12:])


class Archive:
    """Debian's sources, with apt lists in a private directory."""

    def __init__(self, work):
        self.home = work / 'apt'
        for directory in ('lists/partial', 'cache/archives/partial', 'sources'):
            (self.home / directory).mkdir(parents=True)
        status, rows = shell("apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages'")
        # Only the release itself: mirrors of its updates do not always have sources.
        wanted = {row.rsplit(' ', 1)[0] for row in rows.splitlines() if status == 0 and re.fullmatch(r'\S+ [^ -]+ \S+ Debian', row)}
        (self.home / 'list').write_text(''.join(f'deb-src {row}\n' for row in sorted(wanted)))
        settings = {'Dir::Etc::sourcelist': self.home / 'list', 'Dir::Etc::sourceparts': '-', 'Dir::State::lists': self.home / 'lists',
                    'Dir::Cache': self.home / 'cache', 'APT::Sandbox::User': 'root'}
        self.command = 'apt-get -q ' + ' '.join(f'-o {name}={value}' for name, value in settings.items())
        self.works = bool(wanted) and shell(f'{self.command} update')[0] == 0

    def fetch(self, package):
        """The folder of its source, or None and the reason."""
        status, said = shell(f'{self.command} source --download-only {package}', cwd=self.home / 'sources')
        found = sorted((self.home / 'sources').glob(f'{package}_*.dsc'))
        if status != 0 or not found:
            return None, (said.strip().splitlines() or ['nothing was fetched'])[-1]
        folder = self.home / package
        status, said = shell(f'dpkg-source --no-check -x {found[0]} {folder}')
        return (folder, '') if status == 0 else (None, said)


def try_library(name, archive, janus_cc):
    package, commands, own_tests, use = LIBRARIES[name]
    folder, why = archive.fetch(package)
    if folder is None:
        tap.skip(name, why)
        return
    plain = environment(PATH=f'{janus_cc.parent}:{os.environ["PATH"]}', CC='janus-cc', CXX='janus-cc')
    toolchain = janus_cc.parent.parent / 'share/janus-rt/cmake/janus-rt.cmake'
    for command in commands:
        status, said = shell(command.format(toolchain=toolchain), cwd=folder, env=plain)
        if not tap.check(f'{folder.name}: {command.split(" -DCMAKE")[0]}', status == 0, end_of(said)):
            return
    if own_tests:
        status, said = shell(own_tests[0], cwd=folder, env=plain)
        tap.check(f'{folder.name}: its own tests pass', status == 0 and own_tests[1] in said, end_of(said))
    status, said = shell(f'janus-cc -O2 -Wall -Wextra -Werror {here}/sources/{name}.c {use} -o used', cwd=folder, env=plain)
    if tap.check(f'{folder.name}: a program links with it', status == 0, end_of(said)):
        done = run([folder / 'used'], env=environment())
        tap.check(f'{folder.name}: and it does what it should', done.returncode == 0 and re.match(rb'\w', done.stdout), str(done))


def main():
    wanted = sys.argv[1:] or [*LIBRARIES, *BEYOND]
    work = work_directory()
    janus_cc = install(here.parent.parent / 'build-install', work)
    archive = Archive(work)
    for name in wanted:
        if name in BEYOND:
            tap.skip(name, BEYOND[name])
        elif not archive.works:
            tap.skip(name, 'apt-get knows no sources of Debian here')
        else:
            try_library(name, archive, janus_cc)
    passed = tap.count - tap.failures - tap.skipped
    print(f'{passed} passed, {tap.failures} failed' + (f', {tap.skipped} skipped' if tap.skipped else ''))
    return 1 if tap.failures or not passed else 0


sys.exit(main())

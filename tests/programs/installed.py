# SPDX-License-Identifier: Apache-2.0
# installed.py — what the tests of this folder share: an installation in a directory of its own, the programs compiled
# there as a user would, and TAP.
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
compilers = [c for c in ('gcc', shutil.which('clang') and 'clang' or 'clang-14') if shutil.which(c)]
_cxx = {'gcc': 'g++', 'clang': 'clang++', 'clang-14': 'clang++-14'}

# Programs, and what a reduced size of each prints.
programs = {
    'hello.c': ('3', None),
    'hello.cpp': ('3', None),
    'fib.c': ('18', 'fib(18) = 2584\n'),
    'skynet.c': ('1000', '1000 leaves, sum 499500\n'),
    'nqueens.c': ('7', '7 queens: 40 solutions\n'),
    'uts.c': ('50', '4979 nodes, 4362 leaves, 59 deep\n'),
    'primes.c': ('500', '95 primes below 500\n'),
}


class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, claim, ok, why=''):
        self.count += 1
        self.failures += not ok
        print(f'{"ok" if ok else "not ok"} {self.count} - {claim}', flush=True)
        for line in (why if isinstance(why, str) else repr(why)).splitlines()[:12] if not ok else []:
            print(f'# {line[:300]}')
        return ok

    def skip(self, claim, why):
        self.count += 1
        print(f'ok {self.count} - {claim} # SKIP {why}', flush=True)

    def end(self):
        print(f'1..{self.count}')
        sys.exit(1 if self.failures else 0)


def work_directory():
    # Open to everyone: some tests run a program as nobody.
    directory = pathlib.Path(tempfile.mkdtemp(prefix='janus-programs-'))
    directory.chmod(0o755)
    return directory


def install(build, work):
    """meson install into `work`; the path of janus-cc there, or of one installed elsewhere (JANUS_CC)."""
    if 'JANUS_CC' in os.environ:
        return pathlib.Path(os.environ['JANUS_CC'])
    subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', work / 'root'], check=True,
                   stdout=sys.stderr, timeout=120)
    return next((work / 'root').rglob('bin/janus-cc'))


def environment(**settings):
    plain = {k: v for k, v in os.environ.items() if not k.startswith('JANUS_')}
    return plain | {k: str(v) for k, v in settings.items()}


def build(janus_cc, source, output, compiler='gcc'):
    """Compiles a program as a user would; the finished process."""
    options = ['-O2', '-Wall', '-Wextra', '-Werror', '-std=' + ('c++20' if source.suffix == '.cpp' else 'c11')]
    libraries = ['-lbearssl'] if source.stem == 'treehash' else []
    return subprocess.run([janus_cc, *options, source, *libraries, '-o', output], capture_output=True, text=True,
                          env=environment(CC=compiler, CXX=_cxx[compiler]), timeout=120)


def run(command, timeout=60, **options):
    """A program's end: status, stdout, stderr. Status 124 if it had to be stopped."""
    try:
        return subprocess.run(command, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, **options)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, late.stdout or b'', (late.stderr or b'') + b'\nstopped')

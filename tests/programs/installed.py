# SPDX-License-Identifier: Apache-2.0
# installed.py — common parts of tests that need an installation: an installation in a directory of its own, and
# programs compiled there as users would.
import atexit
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'harness'))
from tap import Tap, skip_all, skip_all_without  # noqa: E402, F401 (used by importers)

_tried = os.environ.get('JANUS_TEST_COMPILERS', 'gcc clang').split()
compilers = [c for c in ('gcc', shutil.which('clang') and 'clang' or 'clang-14') if shutil.which(c) and c.split('-')[0] in _tried]
_cxx = {'gcc': 'g++', 'clang': 'clang++', 'clang-14': 'clang++-14'}

# Programs, and what each prints at a reduced size.
programs = {
    'hello.c': ('3', None),
    'hello.cpp': ('3', None),
    'fib.c': ('18', 'fib(18) = 2584\n'),
    'skynet.c': ('1000', '1000 leaves, sum 499500\n'),
    'nqueens.c': ('7', '7 queens: 40 solutions\n'),
    'uts.c': ('50', '4979 nodes, 4362 leaves, 59 deep\n'),
    'primes.c': ('500', '95 primes below 500\n'),
    'ring.c': ('1000', 'task 498 of 503 has the token\n'),
    'sieve.c': ('500', '95 primes below 500\n'),
    'store.c': ('400', '400 actors, 2412 requests, 12 values lost in 12 deaths\n'),
    'chat.c': ('12', '12 users heard 432 lines and 12 whispers\n'),
    'limiter.c': ('30', '30 calls, 0 too early\n'),
    'retries.c': ('20', '20 requests answered, 30 times silent\n'),
    'cron.c': ('100', 'backup 50\nreport 33\nrotate 20\n'),
    'philosophers.c': ('50', 'in order: 50 meals each, nobody gave way\ngreedily: 50 meals each, some gave way\n'),
    'santa.c': ('20', '20 deliveries, 0 groups too large\n'),
    'buffer.c': ('500', 'the numbers up to 500: 125250 through a buffer, 125250 through a channel\n'),
    'collector.c': ('20', '160 trees are whole; cells were used again\n'),
    'chameneos.cpp': ('300', '600 creatures in 300 meetings, 0 met themselves\n'),
}


def work_directory():
    """Removed at the end of the test, however deep the paths in it are."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix='janus-programs-'))
    directory.chmod(0o755)  # some tests run a program as user nobody
    atexit.register(subprocess.run, ['rm', '-rf', directory], check=False, timeout=120)
    return directory


def install(build, work):
    """Runs `meson install` into `work`. Returns the path of janus-cc there, or of one installed elsewhere (JANUS_CC)."""
    if 'JANUS_CC' in os.environ:
        return pathlib.Path(os.environ['JANUS_CC'])
    subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', work / 'root'], check=True,
                   stdout=sys.stderr, timeout=120)
    return next((work / 'root').rglob('bin/janus-cc'))


def environment(**settings):
    plain = {k: v for k, v in os.environ.items() if not k.startswith('JANUS_')}
    return plain | {k: str(v) for k, v in settings.items()}


def build(janus_cc, source, output, compiler='gcc'):
    """Compiles a program as a user would; returns the finished process."""
    options = ['-O2', '-Wall', '-Wextra', '-Werror', '-std=' + ('c++20' if source.suffix == '.cpp' else 'c11')]
    libraries = ['-lbearssl'] if source.stem == 'treehash' else []
    return subprocess.run([janus_cc, *options, source, *libraries, '-o', output], capture_output=True, text=True,
                          env=environment(CC=compiler, CXX=_cxx[compiler]), timeout=120)


PATIENCE = 8  # how many times its emulator's processor time a machine may take in real time: the host may be busy


def run_emulator(command, seconds, **options):
    """The finished process. The emulator gets `seconds` of processor time; after that it dies of SIGXCPU."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return run(command, timeout=PATIENCE * seconds, preexec_fn=limit, **options)


def run(command, timeout=60, **options):
    """The finished process with stdout and stderr. Status 124 if it had to be stopped."""
    try:
        return subprocess.run(command, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, **options)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, late.stdout or b'', (late.stderr or b'') + b'\nstopped')

# SPDX-License-Identifier: Apache-2.0
# lowered.py — common parts of the tests of janus-lower: compiling with janus-cc, and LLVM's verifier.
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, skip_all, work_directory  # noqa: E402, F401

# Each installed LLVM: its version, its clang, and the command that verifies a module.
llvms = [(number, f'clang-{number}', [f'opt-{number}'] + (['-opaque-pointers'] if number == 14 else []) + ['-passes=verify', '-disable-output'])
         for number in (14, 19) if shutil.which(f'clang-{number}') and shutil.which(f'opt-{number}')]


def compile_by(janus_cc, sources, output, *options, compiler='gcc'):
    return subprocess.run([janus_cc, '-O2', *options, *sources, '-o', output], capture_output=True, text=True,
                          env=environment(CC=compiler), timeout=600)


def lower(janus_cc, source, *options, under=()):
    """Runs janus-lower on a file, as the last argument of the command `under`; returns status, stdout and stderr."""
    tool = janus_cc.parent.parent / 'lib/janus-rt/janus-lower'
    return subprocess.run([*under, tool, *options, source], capture_output=True, timeout=120)


def verify(text, command):
    """The complaints of LLVM's verifier about a module; empty if it is valid."""
    is_opaque = text.split(b'\n', 1)[0].endswith(b'opaque pointers')
    words = [word for word in command if is_opaque or word != '-opaque-pointers']
    return subprocess.run(words, input=text, capture_output=True, timeout=120).stderr.decode()


def expected(source):
    """The lines that a program must print, from its comments: those in order, and those in any order."""
    lines = re.findall(r'^; prints( \(in any order\))?: (.*)$', source.read_text(), re.M)
    return [line for any_order, line in lines if not any_order], sorted(line for any_order, line in lines if any_order)


def prints_what_is_expected(source, shown):
    ordered, open_ones = expected(source)
    lines = shown.splitlines()
    rest = sorted(line for line in lines if line in open_ones)
    return [line for line in lines if line not in open_ones] == ordered and rest == open_ones

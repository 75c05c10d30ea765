#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# fuzz_test.py BUILD [COUNT [FIRST]] — random .qtjir programs give the results and cost the ops that an interpreter
# computes. With JANUS_TEST_FULL, 10,000 of them.
import os
import sys

from lowered import Tap, compile_by, environment, install, llvms, run, skip_all, work_directory
from programs import program
from qtjir import Machine, TooLong

if not llvms:
    skip_all('neither LLVM 14 nor 19 is installed')
PER_MODULE = 100
count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000 if os.environ.get('JANUS_TEST_FULL') else 50
first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)

MAIN = '''#include <janus/rt.h>
%s
static int64_t (*const programs[])(int64_t) = {%s};
static int64_t measure(void *unused) {
  (void)unused;
  for (int i = 0; i < %d; ++i) {
    const uint32_t before = janus_budget_get_current().ops, of_asking = before - janus_budget_get_current().ops;
    const uint32_t start = janus_budget_get_current().ops;
    const int64_t result = programs[i](i + 7);
    const uint32_t end = janus_budget_get_current().ops;
    janus_print(1, "%%lld %%u\\n", (long long)result, start - end - of_asking);
  }
  return 0;
}
int main(void) {
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT, .on_exhaustion = JANUS_ON_EXHAUSTION_FAIL,
    .budget = {4000000000u, (size_t)256 << 20, 60000, 60000, 60000}};
  const janus_spawn_options roomy = {.stack_size = 65536};
  janus_nursery *cage = janus_nursery_open(NULL, &options);
  janus_nursery_spawn_in(cage, measure, NULL, &roomy);
  return (int)-janus_nursery_await(cage, NULL);
}
'''


def short_program(number, seed):
    """The first program of this seed that ends soon, with its result and ops."""
    for attempt in range(100):
        text = program(number, f'{seed}.{attempt}')
        try:
            return text, Machine(text).call(f'p{number}', number + 7)
        except TooLong:
            pass
    raise ValueError(f'seed {seed}: no program ends soon')


def module(number, seeds):
    """What is wrong with the programs of these seeds, compiled as one module."""
    made = [short_program(i, seed) for i, seed in enumerate(seeds)]
    texts, expected = [text for text, _ in made], [f'{value} {ops}' for _, (value, ops) in made]
    source, main, binary = work / f'module{number}.qtjir', work / 'main.c', work / f'module{number}'
    source.write_text(''.join(texts))
    main.write_text(MAIN % (''.join(f'int64_t p{i}(int64_t);\n' for i in range(len(seeds))), ', '.join(f'p{i}' for i in range(len(seeds))), len(seeds)))
    done = compile_by(janus_cc, [source, main], binary, ('-O1', '-O0')[number % 2], compiler=('gcc', llvms[-1][1])[number % 2])
    if done.returncode != 0:
        return [f'seeds from {seeds[0]}: {done.stderr[:500]}']
    ran = run([binary], env=environment(JANUS_WORKERS=1 + number % 2))
    shown = ran.stdout.decode().splitlines()
    if ran.returncode != 0 or len(shown) != len(seeds):
        return [f'seeds from {seeds[0]}: status {ran.returncode} after {len(shown)}: {ran.stderr.decode()[:500]}']
    wrong = []
    for i, text in enumerate(texts):
        if shown[i] != expected[i]:
            wrong.append(f'seed {seeds[i]}: {shown[i]}, and the interpreter says {expected[i]}')
            if 'JANUS_KEEP' in os.environ:
                print(text)
    source.unlink()
    binary.unlink()
    return wrong


wrong = []
for number, start in enumerate(range(first, first + count, PER_MODULE)):
    wrong += module(number, range(start, min(start + PER_MODULE, first + count)))
    print(f'# up to seed {min(start + PER_MODULE, first + count) - 1}: {len(wrong)} wrong', flush=True)
tap.none(f'{count} programs give the results and cost the ops that an interpreter says', wrong)
tap.end()

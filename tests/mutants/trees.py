# SPDX-License-Identifier: Apache-2.0
# trees.py — a copy of the source tree in which one mutant at a time is made, its build directories, and the tests that
# run in them to kill the mutant.
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from changes import applied

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/harness"))
import gate  # noqa: E402

BUILD_SECONDS = 900

# Programs with assertions, hosted except where a libc lacks what they need. Each builds in seconds, runs in
# milliseconds to seconds, and repeats its loops as often as under a sanitizer. They kill most mutants.
QUICK = ("config-hosted", "lock_machine-fake", "account_machine-fake", "mem_refusal-fake", "task_unguarded-fake",
         "task_cancel_fence-fake", "task_leftovers-fake", "task_refused-fake", "task_host-hosted", "base-hosted",
         "hosted_runtime-hosted", "budget-hosted", "mem-hosted", "sched-hosted", "api-hosted", "stress-hosted", "task-hosted",
         "format-oracle", "api-growth")
# Not hosted. The first ones are in the build of what ships; those that link all of rt as it ships come last.
NOT_HOSTED = {"format-oracle": "tests/base/test-format-oracle", "api-growth": "tests/test-api-growth"}
AS_SHIPPED = {"api-growth"}
# Which of the programs test a folder of rt directly.
NEAREST = {"base": ("base", "lock_machine", "format"), "budget": ("budget", "account_machine"), "mem": ("mem", "mem_refusal"),
           "sched": ("hosted_runtime", "sched"),
           "task": ("task_host", "task_unguarded", "task_cancel_fence", "task_leftovers", "api", "task"),
           "abi": ("config", "api", "task")}
# Tests that fail after any change of text or code, whatever it does, and so would kill harmless mutants too.
ANY_CHANGE_FAILS = {"model-mistakes", "bench-instructions", "layers"}
# Tests that run no code of rt, and tests that take longer than their kills are worth.
ELSEWHERE = {"docs", "docs-requirements", "harness", "tally", "abi-headers", "bench", "bench-peers", "bench-scaling", "arch",
             "arch-hosted", "arch-unwind", "offsets", "offsets-variants", "linux-start", "linux-host", "janus-cc", "image",
             "image-deployment", "mutants", "qemu-guests", "user-copy", "user-copy-hosted-plain", "user-copy-hosted-asan"}
LONGEST = 60  # the longest test, in seconds, without a mutant

# The build directories of the later stages, and their names in the gate.
WIDE = {"wide": "build", "threads": "build-clang"}
# Each tier runs the tests that the ones before it do not run.
TIERS = ("gate", "all")


def tier_of(build, test):
    return "all" if gate.is_second(WIDE[build], test) else "gate"


def takes_part(build, test):
    """In clang's build only the tests under ThreadSanitizer run."""
    return test not in ANY_CHANGE_FAILS | ELSEWHERE and (build != "threads" or test.endswith("-tsan"))


def in_order(mutant, tests):
    """`tests` is {test: (seconds, suites)}. Tests of the mutated layer come first, then the quickest first."""
    layer = mutant.file.split("/")[1]
    return sorted(tests, key=lambda test: (layer not in tests[test][1], tests[test][0]))


def expendable():
    """Runs in the child: a session of its own, no core dumps, and first choice of the kernel's OOM killer. Makes system
    calls only, since other threads of the parent may have held any lock."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(score, b"1000")
    os.close(score)


def run(command, seconds, **options):
    """The exit status; None if the command was ended after that many seconds."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=expendable, **options) as child:
        status = None
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.terminate()  # meson ends its tests, which have their own sessions
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                pass
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return status


class Tree:
    def __init__(self, place, jobs):
        self.place, self.jobs = place, jobs
        self.seconds = {}  # of each program of the quick build, without a mutant
        self.released = None  # the code that ships, without a mutant
        self.wide = {}  # of each wide build and tier: {test: (seconds, suites)}
        self.is_mutated = False

    def prepare(self):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = set(filter(None, tracked.split("\0")))
        for old in [path for path in self.place.rglob("*") if path.is_file()]:
            name = old.relative_to(self.place)
            if not name.parts[0].startswith("build-") and str(name) not in names:
                old.unlink()
        for name in names:
            source, target = ROOT / name, self.place / name
            if not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            os.utime(target)
        self.configure("quick", "gcc", "g++", "-Dbuildtype=debug", "-Doptimization=1", "-Dsanitizers=")
        self.configure("wide", *gate.BUILDS[WIDE["wide"]])
        for program in QUICK:
            if not self.build(*self.place_of(program)):
                raise SystemExit(f"mutants: {program} does not build as it is")
            began = time.monotonic()
            if not self.passes(program, 300):
                raise SystemExit(f"mutants: {program} does not pass as it is")
            self.seconds[program] = time.monotonic() - began
        self.released = self.code_that_ships()
        if self.released is None:
            raise SystemExit("mutants: the library does not build as it is")

    def configure(self, build, cc, cxx, *options):
        cache = ["ccache"] if shutil.which("ccache") else []
        if not (self.place / f"build-{build}" / "build.ninja").exists():
            subprocess.run(["meson", "setup", f"build-{build}", *options], cwd=self.place, check=True, stdout=sys.stderr,
                           env=os.environ | {"CC": " ".join([*cache, cc]), "CXX": " ".join([*cache, cxx])})

    def prepare_wide(self, build, tier):
        """Finds out which tests pass without a mutant, and how long each takes."""
        directory = self.place / f"build-{build}"
        self.configure(build, *gate.BUILDS[WIDE[build]])
        if not self.build(build):
            raise SystemExit(f"mutants: {directory} does not build as it is")
        suites = {test: suites for test, suites in gate.tests_of(directory) if takes_part(build, test) and tier_of(build, test) == tier}
        self.wide[build, tier] = {}
        if not suites:
            return
        self.meson_test(build, tier, list(suites), 1800)
        for test, result, seconds in self.results(build):
            if result != "OK" or seconds > LONGEST:
                print(f"mutants: {test} takes no part in {build}: {result}, {seconds:.0f} s as it is", flush=True)
            else:
                self.wide[build, tier][test] = seconds, suites[test]
        if not self.wide[build, tier]:
            raise SystemExit(f"mutants: nothing passes in {directory}")

    @staticmethod
    def place_of(program):
        """The build of a program, and its path there."""
        return ("wide", NOT_HOSTED[program]) if program in NOT_HOSTED else ("quick", f"tests/test-{program}-plain")

    def build(self, build, *targets):
        return run(["ninja", "-C", self.place / f"build-{build}", f"-j{self.jobs}", *targets], BUILD_SECONDS,
                   env=os.environ | {"CCACHE_READONLY": "1"} if self.is_mutated else None) == 0

    def passes(self, program, seconds):
        build, path = self.place_of(program)
        return run([self.place / f"build-{build}" / path], seconds, env=os.environ | gate.FEWER) == 0

    def meson_test(self, build, tier, tests, seconds):
        directory = self.place / f"build-{build}"
        (directory / "meson-logs" / "testlog.json").unlink(missing_ok=True)
        return run(["meson", "test", "-C", directory, "--no-rebuild", f"--maxfail={int(self.is_mutated)}",
                    f"--num-processes={self.jobs}", *tests], seconds, env=os.environ | gate.settings_for(tier, WIDE[build]))

    def results(self, build):
        log = self.place / f"build-{build}" / "meson-logs" / "testlog.json"
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
            test = json.loads(line)
            yield test["name"].rsplit(" / ", 1)[-1], test["result"], test["duration"]

    def code_that_ships(self):
        """The loadable code of the library's objects; None if they do not compile."""
        kinds = ("hot", "cold", "apart")
        if not self.build("wide", *(f"rt/libjanus-{kind}.a" for kind in kinds)):
            return None
        code = {}
        for kind in kinds:
            for member in (self.place / "build-wide/rt" / f"libjanus-{kind}.a.p").glob("*.o"):
                stripped = member.with_suffix(".code")
                subprocess.run(["objcopy", "--strip-debug", member, stripped], check=True)
                code[f"{kind}/{member.name}"] = stripped.read_bytes()
        return code

    # --- A mutant: made, then judged --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def made(self, mutant):
        path = self.place / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(applied(mutant, original), encoding="utf-8")
        self.is_mutated = True
        try:
            yield
        finally:
            self.is_mutated = False
            path.write_text(original, encoding="utf-8")

    # killed_quickly() and killed_widely() return the test that failed, "" if none did, and None if the mutant does not
    # compile. A failure must occur twice in three runs, since a machine with other users is sometimes slow.
    def killed_quickly(self, mutant):
        nearest = [f"{name}-" for name in NEAREST[mutant.file.split("/")[1]]]
        order = sorted(QUICK, key=lambda program: (program in AS_SHIPPED, next(
            (place for place, name in enumerate(nearest) if program.startswith(name)), len(nearest)), self.seconds[program]))
        for program in order:
            if not self.build(*self.place_of(program)):
                return None
            limit = 10 + 5 * self.seconds[program]
            if not self.passes(program, limit) and not (self.passes(program, limit) and self.passes(program, limit)):
                return program
        return ""

    def killed_widely(self, build, tier, mutant):
        if not self.build(build):
            return None
        known, chunk, spent = self.wide[build, tier], [], 0
        for test in in_order(mutant, known):
            chunk.append(test)
            spent += known[test][0]
            if spent > 10:
                if killer := self.killed_by(build, tier, chunk):
                    return killer
                chunk, spent = [], 0
        return self.killed_by(build, tier, chunk)

    def killed_by(self, build, tier, tests):
        """The first of the tests that fails; "" if none does."""
        known = self.wide[build, tier]

        def fails_alone(test):
            return self.meson_test(build, tier, [test], 15 + 5 * known[test][0]) != 0

        while tests:
            if self.meson_test(build, tier, tests, 60 + 4 * sum(known[test][0] for test in tests)) == 0:
                return ""
            ended = {test: result for test, result, _ in self.results(build)}
            if failed := [test for test in tests if ended.get(test, "INTERRUPT") not in ("OK", "SKIP", "INTERRUPT")]:
                suspect = failed[0]
            else:  # meson was ended before it reported a failure: one of the remaining tests hangs
                left = [test for test in tests if ended.get(test) not in ("OK", "SKIP")]
                suspect = next((test for test in left if fails_alone(test)), None)
                if suspect is None:
                    return ""
            if any(fails_alone(suspect) for _ in range(2)):
                return suspect
            tests = [test for test in tests if test != suspect and ended.get(test) not in ("OK", "SKIP")]
        return ""

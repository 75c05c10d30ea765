# SPDX-License-Identifier: Apache-2.0
# tap.py — reports of tests in Python: the Test Anything Protocol, a line for each claim.
import shutil
import sys


class Tap:
    """Prints a result for each claim. `about` is printed before each claim, for tests whose claims do not name their subject."""

    def __init__(self, about=''):
        self.about = about + ': ' if about else ''
        self.count = self.failures = self.skipped = 0

    def check(self, claim, ok, why=''):
        self._result('ok' if ok else 'not ok', claim)
        self.failures += not ok
        for line in (why if isinstance(why, str) else repr(why)).splitlines()[:20] if not ok else []:
            print(f'# {line[:300]}')
        return ok

    def none(self, claim, found):
        """The claim holds if `found`, the counterexamples, is empty."""
        found = list(found)
        return self.check(claim, not found, '\n'.join(map(str, found)))

    def skip(self, claim, why):
        self._result('ok', f'{claim} # SKIP {why}')
        self.skipped += 1

    def end(self):
        print(f'1..{self.count}')
        sys.exit(1 if self.failures else 0)

    def _result(self, word, claim):
        self.count += 1
        print(f'{word} {self.count} - {self.about}{claim}', flush=True)


def skip_all(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)


def skip_all_without(program):
    if not shutil.which(program):
        skip_all(f'{program} is missing')

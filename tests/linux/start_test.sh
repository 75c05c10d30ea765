#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# start_test.sh PROBE... — starts each probe in unusual ways, and checks its exit status.
set -u
number=0
failures=0

ok() {  # EXPECTED-STATUS CLAIM COMMAND...
  local expected=$1 claim=$2
  shift 2
  "$@" 2>/dev/null
  local status=$?
  number=$((number + 1))
  if [ "$status" = "$expected" ]; then
    echo "ok $number - start.$claim"
  else
    echo "# status $status instead of $expected: ${*:1:4}"
    echo "not ok $number - start.$claim"
    failures=$((failures + 1))
  fi
}

skip() {
  number=$((number + 1))
  echo "ok $number - start.$1 # SKIP $2"
}

says() { [ "$("$@" say)" = said ]; }
closed() { "$@" <&- >&- 2>&-; }

echo 'TAP version 13'
for probe in "$@"; do
  kind=$(basename "$probe")
  ok 0 "${kind}_finds_everything_in_place" "$probe"
  ok 0 "${kind}_says_what_it_has_to_say" says "$probe"
  ok 0 "${kind}_needs_no_environment" env -i "$probe" no-environment
  ok 0 "${kind}_sees_its_environment" env -i ONLY=one "$probe" environment
  ok 0 "${kind}_takes_a_thousand_arguments" "$probe" many $(seq 1000)
  ok 77 "${kind}_starts_without_any_argument" "$probe" without-arguments
  ok 0 "${kind}_starts_with_all_files_closed" closed "$probe"
  ok 134 "${kind}_dies_by_its_own_hand" bash -c '"$0" die; exit $?' "$probe"
  if [ "$(id -u)" = 0 ]; then
    root=$(mktemp -d)
    cp "$probe" "$root/probe"
    ok 0 "${kind}_runs_in_an_empty_root" says chroot "$root" /probe
    rm -r "$root"
  else
    skip "${kind}_runs_in_an_empty_root" 'changing the root needs root'
  fi
  if command -v setarch >/dev/null; then
    ok 0 "${kind}_runs_at_fixed_addresses" setarch -R "$probe"
  else
    skip "${kind}_runs_at_fixed_addresses" 'no setarch'
  fi
done
echo "1..$number"
[ "$failures" = 0 ]

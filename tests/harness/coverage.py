#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# coverage.py BUILD FOLDER FLOOR — prints the line coverage of FOLDER, file by file, from the data of the tests in
# BUILD, and writes BUILD/coverage.json in the format of meson's log: one test, which fails below FLOOR per cent.
import json
import subprocess
import sys
from pathlib import Path


def measure(build, folder):
    command = ["gcovr", "--root", ".", "--filter", f"{folder}/", "--json-summary", "--exclude-throw-branches",
               "--exclude", f"{folder}/include/", "-j", "2", build]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    build, folder, floor = sys.argv[1], sys.argv[2], float(sys.argv[3])
    summary = measure(build, folder)
    for file in sorted(summary["files"], key=lambda f: f["filename"]):
        print(f"{file['line_covered']:6} of {file['line_total']:6}  {file['line_percent'] or 0:5.1f} %  {file['filename']}")
    percent = summary["line_percent"] or 0.0
    print(f"line coverage of {folder}: {percent:.1f} % ({summary['line_covered']} of {summary['line_total']} lines;"
          f" at least {floor:g} % wanted)")
    reached = summary["line_total"] > 0 and percent >= floor
    verdict = {"name": f"coverage of {folder}", "result": "OK" if reached else "FAIL"}
    Path(build, "coverage.json").write_text(json.dumps(verdict) + "\n")


if __name__ == "__main__":
    main()

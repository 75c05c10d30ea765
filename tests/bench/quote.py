#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# quote.py bench.json FILE... — replaces what is between the marks `<!-- bench table -->` and `<!-- end -->` of each
# FILE by the table of a run; where the first mark is `<!-- bench figures -->`, by ten of its rows, and where it is
# `<!-- bench losses -->`, by the rows in which a peer is ahead. So nobody copies figures by hand. docs/check.py compares
# both with the table.
import json
import re
import sys
import textwrap
from pathlib import Path

from report import number
from rows import OURS

MARKS = re.compile(r"(<!-- bench (table|figures|losses) -->\n).*?(<!-- end -->)", re.S)
WIDTH = 128
AHEAD = 1.1  # a peer is ahead if our figure is larger than so many times its own
FIGURES = [
    "switch, ns", "yield, 1,000 ready, 1 worker, ns", "spawn, 1 worker, ns", "fib(35), 2 workers, ns a spawn",
    "channel, 1 worker, ns a round trip", "wake, idle 100 us, 2 workers: p50, ns", "steal, ns", "parked, 1 worker, bytes",
    "check, loop of 1 ns, 1 worker, % more", "size of hello, bytes",
]


def title_of(row, figure):
    several = len(row["figures"]) > 1
    label = figure["label"] if several and figure["label"] not in ("ns", "bytes") else ""
    return row["title"] + (f": {label}" if label else "") + f", {figure['unit']}"


def goal_of(figure):
    return "; ".join(f"{goal['goal']} {ending_of(goal)}" for goal in figure["goals"])


def ending_of(goal):
    if "met" not in goal:
        return "not measured"
    return "**met**" if goal["met"] else "missed"


def shown(program, size):
    if "failed" in program:
        return "failed"
    is_smaller_tree = program["kind"] == "peer" and program["size"] < min(size, 100)
    return number(program["median"]) + (f" (size {program['size']})" if is_smaller_tree else "")


def line_of(row, figure):
    own = next((p for p in figure["programs"] if p["label"] == OURS), None)
    limit = next((p for p in figure["programs"] if p["kind"] == "limit"), None)
    peers = [p for p in figure["programs"] if p["kind"] == "peer"]
    cells = [title_of(row, figure), shown(own, row["size"]) if own else "", goal_of(figure),
             shown(limit, row["size"]) if limit else "",
             ", ".join(f"{p['label']} {shown(p, row['size'])}" for p in peers)]
    return "| " + " | ".join(cells) + " |"


def preface(run):
    where, rounds = run["machine"], run["rounds"]
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    spreads = sorted(p["spread"] for row in run["rows"] for f in row["figures"] for p in f["programs"] if "spread" in p)
    kernel = ".".join(where["kernel"].split(".")[:2])
    compiler = re.sub(r"\(.*?\) ", "", where["compiler"])
    text = (f"`./dev bench --peers`, medians of {rounds} rounds, programs interleaved: {where['cpus']} CPUs of a virtual "
            f"machine ({where['cpu']}, {where['memory_gib']} GiB), Linux {kernel}, {compiler}. The host is shared: half of all spreads "
            f"were above {spreads[len(spreads) // 2]:.0%}, so ratios within a row say more than figures. Versions: {versions}. "
            "*Limit* is a bare program of our own that does only the essence. *Size* marks a smaller tree where a peer would "
            "take minutes.")
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(run):
    lines = ["| | janus-rt | goal | limit | peers |", "|---|---|---|---|---|"]
    for row in run["rows"]:
        lines += [line_of(row, figure) for figure in row["figures"]]
    goals = [goal for row in run["rows"] for figure in row["figures"] for goal in figure["goals"]]
    met = sum(goal.get("met", False) for goal in goals)
    return "\n".join(lines) + f"\n\n{met} of {len(goals)} goals are met in this run."


def rows_of(full):
    """The rows of a table: {title: (ours, goal, limit, peers)}."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in full.splitlines() if line.startswith("|")]
    return {title: rest for title, *rest in lines[2:]}


def figures(full):
    """Ten rows of a table, without their goals."""
    rows = rows_of(full)
    lines = ["| | janus-rt | limit | peers |", "|---|---|---|---|"]
    for title in FIGURES:
        if title not in rows:
            sys.exit(f"quote.py: there is no row {title}")
        own, _, limit, peers = rows[title]
        lines.append(f"| {title} | {own} | {limit} | {peers} |")
    return "\n".join(lines)


def value_of(text):
    return float(text.replace(",", ""))


def values_of(peers):
    """(peer, figure) of each peer in a cell of the table."""
    for peer in filter(None, peers.split(", ")):
        name, value = re.sub(r" \(size .*\)", "", peer).rsplit(" ", 1)
        if value != "failed":
            yield name, value_of(value)


def losses(full):
    """A row for each peer that is ahead of us in some row of the table."""
    ahead = {}
    for title, (own, _, _, peers) in rows_of(full).items():
        for peer, value in values_of(peers) if own not in ("", "failed") else ():
            if value_of(own) > AHEAD * value:
                times = f" ({value_of(own) / value:.1f})" if value > 0 else ""
                ahead.setdefault(peer, []).append(re.sub(r", (ns|ms|%).*", "", title) + times)
    lines = ["| peer | is ahead by more than a tenth in (by how many times) |", "|---|---|"]
    return "\n".join(lines + [f"| {peer} | {'; '.join(rows)} |" for peer, rows in sorted(ahead.items())])


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: quote.py bench.json FILE...")
    run = json.loads(Path(sys.argv[1]).read_text())
    if run["quick"]:
        sys.exit("quote.py: a quick run says nothing")
    full = table(run)
    texts = {"table": f"\n{preface(run)}\n\n{full}\n\n", "figures": f"\n{figures(full)}\n\n",
             "losses": f"\n{losses(full)}\n\n"}
    for name in sys.argv[2:]:
        page = Path(name).read_text()
        if not MARKS.search(page):
            sys.exit(f"quote.py: {name} has no marks for a table")
        Path(name).write_text(MARKS.sub(lambda found: found[1] + texts[found[2]] + found[3], page))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
# report.py — the table on stdout: one line for each program of a row, the project's own first.
from measure import is_share
from rows import OURS

NAME, PROGRAM, UNIT = 40, 22, 16


def number(value):
    """Three significant digits, with separators of thousands."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 or value == 0 else f"{value:.3f}"


def heading():
    return f"{'':{NAME}}{'':{PROGRAM}}{'median':>10}  {'unit':{UNIT}}{'spread':>7}{'x ours':>8}"


def row_lines(row):
    if "skipped" in row:
        yield f"{row['title']:{NAME}}{row['skipped']}"
    for figure in row["figures"]:
        yield from figure_lines(row, figure)


def figure_lines(row, figure):
    title = row["title"] + (f": {figure['label']}" if len(row["figures"]) > 1 else "")
    for program in figure["programs"]:
        yield f"{title:{NAME}}" + program_line(program, figure, row).rstrip()
        title = ""


def program_line(program, figure, row):
    label = f"{program['label']:{PROGRAM}}"
    if "failed" in program:
        return label + "  FAILED: " + program["failed"]
    spread = f"{program['spread']:7.0%}" if "spread" in program else " " * 7
    ratio = f"{program['ratio']:8.2f}" if "ratio" in program else " " * 8
    line = f"{label}{number(program['median']):>10}  {figure['unit']:{UNIT}}{spread}{ratio}"
    return line + "  " + remark(program, figure, row)


def remark(program, figure, row):
    said = []
    if program["label"] == OURS:
        said += [goal_text(program, figure, goal) for goal in figure["goals"]]
    if "reached" in program:
        said.append(f"memory ended at {program['reached']:,} of {program['size']:,}")
    elif program["size"] != row["size"] and program["kind"] == "peer":
        said.append(f"size {program['size']:,}")
    return "; ".join(said)


def goal_text(program, figure, goal):
    if "met" not in goal:
        return f"goal {goal['goal']}: not measured here"
    times = "" if is_share(figure["figure"]) else f", {program['median'] / goal['bound']:.2f} times it"
    by = ("met" if goal["met"] else "MISSED") + times
    bound = f" = {number(goal['bound'])}" if "×" in goal["goal"] else ""
    return f"goal {goal['goal']}{bound}: {by}"


def ending(result, machine_line):
    yield ""
    yield machine_line
    if result["versions"]:
        yield ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    yield from conclusion(result["rows"])


def conclusion(rows):
    """One line, or none if there was no goal."""
    goals = [goal for row in rows for figure in row["figures"] for goal in figure["goals"]]
    met = sum(goal.get("met", False) for goal in goals)
    unknown = sum("met" not in goal for goal in goals)
    if goals:
        yield f"{met} of {len(goals)} goals met" + (f", {unknown} not measured" if unknown else "")

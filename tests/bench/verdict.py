# SPDX-License-Identifier: Apache-2.0
# verdict.py — turns the rounds of a row into results: medians, spreads, ratios to the project's figure, and whether the
# goals are met. Its dictionaries are the contents of bench.json, from which the table and the plots are made.
import statistics

from measure import is_share
from rows import OURS


def judge(row, contenders, judged=True):
    """`judged`: compare with the goals. Small sizes (--quick) are not compared."""
    return {"name": row.name, "title": row.title, "workload": row.workload, "size": contenders[0].size,
            "workers": row.workers, "figures": [judge_figure(figure, contenders, judged) for figure in row.figures]}


def skipped(row, why):
    return {"name": row.name, "title": row.title, "workload": row.workload, "size": row.size, "workers": row.workers,
            "figures": [], "skipped": why}


def judge_figure(figure, contenders, judged):
    programs = [summary(contender, figure.name) for contender in contenders if takes_part(contender, figure.name)]
    median_of = {program["label"]: program["median"] for program in programs if "median" in program}
    own = median_of.get(OURS)
    for program in programs:
        if own and program.get("median") and program["label"] != OURS and not is_share(figure.name):
            program["ratio"] = program["median"] / own
    result = {"figure": figure.name, "label": figure.label or figure.name, "unit": figure.unit, "programs": programs}
    return result | {"goals": [judge_goal(goal, median_of, own) for goal in figure.goals if judged]}


def takes_part(contender, figure):
    """A failed contender appears in all its figures, others in those that they print."""
    if contender.unknown or figure not in contender.figures.values():
        return False
    return bool(contender.failure or contender.values(figure))


def summary(contender, figure):
    found = {"label": contender.label, "kind": contender.kind}
    if contender.failure:
        return found | {"failed": contender.failure}
    values = contender.values(figure)
    median = statistics.median(values)
    found |= {"median": median, "least": min(values), "most": max(values), "values": values, "size": contender.size}
    if median and not is_share(figure):
        found["spread"] = (max(values) - min(values)) / abs(median)
    return found | reached(contender)


def reached(contender):
    """How many tasks there were when memory ended before the workload did."""
    tasks = [round_["tasks"] for round_ in contender.rounds if "tasks" in round_]
    return {"reached": int(min(tasks))} if tasks and min(tasks) < contender.size else {}


def judge_goal(goal, median_of, own):
    bound = goal.at_most if goal.of is None else goal.at_most * median_of.get(goal.of, 0)
    verdict = {"goal": str(goal)}
    if own is None or not bound:
        return verdict
    return verdict | {"bound": bound, "met": own <= bound}

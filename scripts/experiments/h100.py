"""Plans measured on an H100 beside what the clock says of them."""
import json
import os
import re
import statistics

from .model import BY_SM, MEASURED, ROOT, geomean, workloads_of_papers
from .page import percent, times

FOLDER = "bench/results/H100-2026-11-22"
# Of these, times-paper.json has plans of a kernel that has changed since.
OLD_PLANS = ("integral-col",)
EFFECT = 0.05
# The papers' bars by the plans that were measured: the fastest of those that match.
BARS = {"CLU": [("RD", r"bind=redirect$"), ("CLU", r"bind=agents$"), ("+TOT", r"bind=agents(:\d+)?$"), ("L1 bypassed by streams", r"stream=l1$"),
                ("+PFH", r"prefetch=l1:1$")],
        "BYP": [("bpa around L1", r"bypass=l1:0$"), ("threshold 2", r"bypass=l1:2$"), ("bpa around read-only", r"bypass=ro:0$"),
                ("bpa around L2", r"bypass=l2:0$")],
        "MAP": [("along y", r"order=col$"), ("tiles", r"order=tile"), ("redirection", r"bind=redirect$")],
        "SMC": [("one agent", r"bind=agents:1$"), ("agents", r"bind=agents$"), ("best number", r"bind=agents(:\d+)?$")]}
KINDS = [("orders of CTAs", r"order=[^,]*$", "MAP, CLU"), ("redirection", r"bind=redirect$", "CLU RD"),
         ("claims", r"bind=claim$", "SMC"), ("agents, all that fit", r"bind=agents$", "CLU, SMC"),
         ("fewer agents", r"bind=agents:\d+$", "CLU +TOT, SMC"), ("orders with agents", r"order=.*bind=agents", "CLU, SMC"),
         ("L1 bypassed", r"bypass=l1:\d+$", "BYP L1"), ("the read-only path, bypassed or not", r"bypass=ro:\d+$", "BYP read-only"),
         ("loads that leave L2 first", r"bypass=l2:\d+$", "BYP L2"), ("streaming loads", r"stream=", "CLU +BPS"),
         ("prefetching", r"prefetch=", "CLU +PFH")]


def load(name="times-paper.json", known={}):
    if name not in known:
        with open(os.path.join(ROOT, FOLDER, name)) as f:
            known[name] = json.load(f)
    return known[name]


def rows_of(model, workload, plans, ask):
    frozen, model.frozen = model.frozen, not ask
    with model.at(MEASURED):
        known = model.rows(workload, "h100", "paper", plans, exact=False)
    model.frozen = frozen
    return known


def effects(model, workload, ask=False):
    """{plan: (measured, predicted speedup over the default)} of a workload; {}: not measured or not modelled. Only with
    ask are predictions wanted: the tables above do without."""
    measured = load().get(workload)
    if not measured or workload in BY_SM:
        return {}
    plans = [p for p in measured if p == "baseline" or workload not in OLD_PLANS]
    known = rows_of(model, workload, plans, ask)
    if not known["baseline"]:
        return {}
    return {p: (measured["baseline"] / measured[p], known["baseline"]["time_us"] / known[p]["time_us"]) for p in plans
            if p != "baseline" and known[p]}


def beside(model, workload, pattern):
    """The measured speedup of the fastest plan of a kind, and the clock's of the same plan."""
    found = [e for p, e in effects(model, workload).items() if re.match(pattern, p)]
    return tuple(times(x) for x in max(found)) if found else ("-", "-")


def bars(page, known, paper):
    """A paper's bars for its applications: measured, then the clock's of the same plan."""
    rows = []
    for workload, papers in workloads_of_papers().items():
        plans = known.get(workload)
        if not plans or paper not in papers:
            continue
        cells = []
        for _, pattern in BARS[paper]:
            found = [e for p, e in plans.items() if re.match(pattern, p)]
            cells += [times(x) for x in max(found)] if found else ["-", "-"]
        rows.append([workload, f"{load()[workload]['baseline']:.0f}"] + cells)
    if rows:
        page.table("h100-" + paper.lower(), [paper, "default, us"] + [x for name, _ in BARS[paper] for x in (name + ": measured", name + ": clock")], rows)


def is_right(measured, predicted):
    return (measured > 1) == (predicted > 1)


def sentence(model, pattern):
    """How well an H100 confirms predictions of a kind of plan."""
    all_ = [e for w in load() for p, e in effects(model, w).items() if re.search(pattern, p)]
    large = [e for e in all_ if abs(e[0] - 1) > EFFECT]
    if not large:
        return "Nothing of this kind was measured on an H100."
    right = sum(is_right(*e) for e in large)
    off = statistics.median(abs(p / m - 1) for m, p in all_)
    return (f"On an H100 such plans changed the time by more than 5% in {len(large)} of {len(all_)} measurements; the clock has "
            f"the sign of {right} of them ({percent(right / len(large))}), and its speedups are off by {percent(off)} (median).")


def chapter(model, page):
    known = {w: effects(model, w, not model.frozen) for w in workloads_of_papers() if w in load() and w not in BY_SM}
    page.text("## On an H100",
              f"The plans of {FOLDER}/times-paper.json (medians of nine rounds, size paper, driver 580.159) beside the clock's "
              "predictions of the same launches on `h100`. *effects*: plans that changed the time by more than 5%; *right*: those "
              "whose sign the clock has; *off*: how far its speedups are from the measured ones, median. Whatever a table "
              "above says by a kind of plan is as sure as that kind's row here, and the GPUs of the papers differ from this one.")
    rows = []
    for name, pattern, chapters in KINDS:
        all_ = [e for plans in known.values() for p, e in plans.items() if re.match(pattern, p)]
        large = [e for e in all_ if abs(e[0] - 1) > EFFECT]
        if all_:
            rows.append([name, chapters, len(all_), len(large), sum(is_right(*e) for e in large),
                         percent(sum(is_right(*e) for e in large) / len(large)) if large else "-",
                         percent(statistics.median(abs(p / m - 1) for m, p in all_))])
    if not rows:
        page.text("Not modelled.")
        return
    page.table("h100-kinds", ["plans", "used by", "measured", "effects", "right", "part", "off"], rows)
    defaults = [(w, load()[w]["baseline"], rows_of(model, w, ["baseline"], False)["baseline"]) for w in known]
    off = [(r["time_us"] / us, w) for w, us, r in defaults if r]
    page.text(f"Default launches of {len(off)} workloads: predicted over measured, geometric mean of the factor off "
              f"{times(geomean([max(x, 1 / x) for x, _ in off]))}; farthest: " +
              ", ".join(f"{w} {times(x)}" for x, w in sorted(off, key=lambda o: max(o[0], 1 / o[0]), reverse=True)[:6]) + ".")
    page.text("The papers' bars there, over the default launch, as far as they were measured at size paper: of several numbers "
              "of agents or sizes of tiles the fastest as measured, with the clock's prediction of the same plan.")
    for paper in BARS:
        bars(page, known, paper)
    wrong = [[w, f"`{p}`", times(e[0]), times(e[1])] for w, plans in known.items() for p, e in plans.items()
             if abs(e[0] - 1) > EFFECT and not is_right(*e)]
    page.text(f"All {len(wrong)} verdicts of the clock that the H100 contradicts by more than 5%:")
    page.table("h100-contradicted", ["workload", "plan", "measured", "the clock"], sorted(wrong))

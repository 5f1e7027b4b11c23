"""The page: each headline of the papers beside the same figure of the tables, whether the two agree, and why not.

Numbers come from the tables: [[table | row | column]] stands for a cell. A row is named by the beginning of one of its first cells, or
by the beginnings of several, with + between them; "all rows" is their geometric mean."""
import csv
import functools
import os
import re
import textwrap
from collections import namedtuple

from .model import geomean
from .page import times

# figure; paper: its text; theirs: numbers; ours: cells; within: the tolerance that was chosen before the run; judge: one of
# JUDGES; why: what a run shows of the difference. ours may have several lists, as (what, cells): the first one is judged, the others
# where they judge differently.
Headline = namedtuple("Headline", "figure paper theirs ours within judge why")
TEMPLATE = os.path.join(os.path.dirname(__file__), "page.md")
HOPPER = os.path.join(os.path.dirname(__file__), "hopper.md")
HEADLINES = os.path.join(os.path.dirname(__file__), "headlines.csv")


@functools.lru_cache(None)
def table(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def cell(folder, reference):
    """"table | row | column"."""
    name, row, column = (x.strip() for x in reference.split("|"))
    path = os.path.join(folder, name + ".csv")
    rows = table(path) if os.path.exists(path) else []
    if row == "all rows":
        return times(geomean([number(r[column]) for r in rows]))
    for found in rows:
        cells = list(found.values())[:4]
        if all(any(c == part or c.startswith(part + " ") or c.startswith(part + ",") for c in cells) for part in row.split(" + ")):
            if column not in found:
                raise ValueError(f"{name}.csv has no column {column}")
            return found[column] or "-"
    return "-"


def fill(folder, text):
    return re.sub(r"\[\[(.*?)\]\]", lambda m: cell(folder, m[1]), text)


def number(text):
    """Of "1.46x", "-55%", "5", "1.70x (of 8)"; None: there is none."""
    found = re.match(r"[-+]?[0-9.]+", text)
    return float(found[0]) if found else None


# Each gives (how far off, agrees, remark) of one of our numbers and the paper's.
def by_factor(ours, theirs, within):
    off = ours / theirs - 1
    remark = "its sign differs" if (ours > 1.02 and theirs < 0.98) or (ours < 0.98 and theirs > 1.02) else ""
    half = abs(off) <= within and theirs > 1.02 and ours - 1 < 0.5 * (theirs - 1)
    return f"{100 * off:+.0f}%", abs(off) <= within, remark or ("under half of the gain" if half else "")


def by_gain(ours, theirs, within):
    part = (ours - 1) / (theirs - 1)
    return f"{part:.1f} of the gain", abs(part - 1) <= within, ""


def by_points(ours, theirs, within):
    return f"{abs(ours - theirs):.0f} points", abs(ours - theirs) <= within, ""


def by_steps(ours, theirs, within):
    return f"{ours - theirs:+.0f}", abs(ours - theirs) <= within, ""


JUDGES = {"factor": by_factor, "gain": by_gain, "points": by_points, "steps": by_steps}


def judged(folder, ours, h):
    """(texts, offs, verdict) of a list of cells."""
    texts = [cell(folder, c) for c in ours]
    values = [number(t) for t in texts]
    if None in values:
        return texts, ["-"], "missing"
    found = [JUDGES[h.judge](v, t, h.within) for v, t in zip(values, h.theirs)]
    remarks = sorted({remark for _, _, remark in found if remark})
    right = [agrees for _, agrees, _ in found]
    verdict = "agrees" if all(right) else "differs" if not any(right) else f"{sum(right)} of {len(right)} agree"
    return texts, [off for off, _, _ in found], verdict + "".join(f"; {r}" for r in remarks)


def line(folder, h):
    kinds = h.ours if isinstance(h.ours[0], tuple) else [("", h.ours)]
    found = [(what, *judged(folder, ours, h)) for what, ours in kinds]
    said = [(what, verdict) for what, _, _, verdict in found if verdict != "missing"] or [("", "missing")]
    said = [x for k, x in enumerate(said) if not k or x[1] != said[k - 1][1]]
    verdict = said[0][1] if len(said) == 1 else "; ".join(f"{what}: {verdict}" for what, verdict in said)
    here = "; ".join(", ".join(texts) + (f" {what}" if what else "") for what, texts, _, _ in found)
    offs = "; ".join(", ".join(o) for _, _, o, _ in found if o != ["-"])
    return f"| {h.figure} | {h.paper} | {here} | {verdict}{f' ({offs})' if offs else ''} | {fill(folder, h.why)} |"


def headlines():
    """Of headlines.csv: lists are separated by ;, and lists of cells by // and "what: " in front."""
    found = []
    with open(HEADLINES, newline="") as f:
        for r in csv.DictReader(f):
            lists = [part.strip() for part in r["ours"].split("//")]
            ours = [(p.split(": ", 1)[0], [c.strip() for c in p.split(": ", 1)[1].split(";")]) for p in lists] if len(lists) > 1 else \
                [c.strip() for c in lists[0].split(";")]
            found.append(Headline(r["figure"], r["paper"], [float(x) for x in r["theirs"].split(";")], ours, float(r["within"]), r["judge"],
                                  r["why"]))
    return found


def hopper(folder):
    """The page of what the papers' levers come to on a GPU of today."""
    with open(HOPPER) as f:
        return wrapped(fill(folder, f.read()))


def page(folder):
    with open(TEMPLATE) as f:
        text = f.read()
    return wrapped(fill(folder, text.replace("{headlines}", "\n".join(line(folder, h) for h in headlines()))))


def wrapped(text):
    out = []
    for paragraph in text.split("\n"):
        out += textwrap.wrap(paragraph, 120, break_long_words=False, break_on_hyphens=False) \
            if len(paragraph) > 120 and not paragraph.startswith("|") else [paragraph]
    return "\n".join(out)

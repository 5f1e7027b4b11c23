"""CLU by the agents of its listing 5: each takes one stride of its SM's cluster when it starts (`take=strides`), and claims no task."""
import os
import re

from .clu import CLU_ALGORITHM, CLU_CACHE_LINE, CLU_GPUS, FERMI_TWICE, called, path_of
from .model import CAUSES, HEADLINES, ROOT, geomean, mean, n_sms, ratio
from .page import change, percent, times, waves_text

# What stands in for an application of CLU's tables: images by textures, as in the CUDA samples; rows as long as PolyBench's, which decides
# what share of them meets in a set of L1, and fewer of them.
INSTEAD = {"SGM": ("sgemm", "paper k=128"), "IMD": ("image-denoising-texture", "paper width=160 height=136"), "DCT": ("dct8x8-texture", "paper"),
           "SYK": ("syrk", "paper n=160 m=1024"), "S2K": ("syr2k", "paper n=160 m=1024")}
# PolyBench's pairs of kernels, each over a matrix that 96 CTAs share: in one a thread reads a row, in the other a column. MVT's two are
# ATX's in other words.
PAIRS = {"ATX": ("atax", ("atax_rows", "atax_columns")), "MVT": ("atax", ("atax_rows", "atax_columns")),
         "BC": ("bicg", ("bicg_rows", "bicg_columns"))}
LONG, SHORT = 24576, 128
# The paper's means and its largest bars (5.1).
PAPER = {"algorithm": {"Fermi": (1.46, 3.83), "Kepler": (1.48, 3.63), "Maxwell": (1.45, 3.1), "Pascal": (1.42, 3.32)},
         "cache-line": {"Fermi": (1.47, 2.57), "Kepler": (1.29, 1.75), "Maxwell": (1, None), "Pascal": (1, None)}}
SECTORS = {"algorithm": {"Fermi": "-55%", "Kepler": "-65%", "Maxwell": "-29%", "Pascal": "-28%"},
           "cache-line": {"Fermi": "-81%", "Kepler": "-71%", "Maxwell": "-34%", "Pascal": "-"}}


# CTAs that an SM has room for (CLU table 2), where agents are fewer in it.
ROOM = {"KMN": (6, 8, 8, 8), "IMD": (8, 16, 18, 18), "DCT": (8, 16, 32, 32), "SGM": (7, 9, 12, 8), "SYK": (5, 8, 8, 8), "S2K": (6, 6, 8, 8),
        "ATX": (6, 8, 8, 8), "MVT": (6, 8, 8, 8), "NBO": (2, 4, 6, 6), "BC": (6, 8, 8, 8)}


def plans_of(app, number):
    """The default, all agents, and as many as CLU's table 2 has if these are fewer."""
    order, agents = "order=col," if app[3] == "col" else "", app[4][number]
    fewer = agents < ROOM.get(app[0], app[4])[number]
    return ["baseline", order + "bind=agents,take=strides"] + ([order + f"bind=agents:{agents},take=strides"] if fewer else [])


def of_kernel(model, workload, kernel, path, plans):
    """{plan: prediction} of one kernel of a pair, alone."""
    rows, columns = (LONG, SHORT) if kernel.endswith("rows") else (SHORT, LONG)
    read, written = f"f32[{SHORT}]=uniform_int(-1, 1)", f"f32[{LONG}]=zero"
    vectors = [written, read] if kernel == "atax_columns" else [read, written]
    return model.launch("pair", os.path.join("..", "..", "kernels", workload, "kernel.cu"), kernel, LONG // 256, 256,
                        [f"f32[{LONG * SHORT}]=uniform_int(-1, 1)"] + vectors + [f"s32:{rows}", f"s32:{columns}"], path, plans)


def of_pair(model, name, path, plans):
    """Both kernels one after the other: the sums of what they take."""
    workload, kernels = PAIRS[name]
    found = [of_kernel(model, workload, k, path, plans) for k in kernels]
    if not all(found) or not all(f[p] for f in found for p in plans):
        return {}
    return {p: {key: sum(f[p][key] for f in found) for key in ("time_us", "l2_sectors", "l1_hits", "l1_sectors")} |
            {"resident": found[0][p]["resident"]} for p in plans}


def application(model, app, number, gpu, setting):
    """What was run, its CTAs over those that the GPU runs at once, and the rows of its four plans; None: they are not known."""
    name = app[0]
    path, plans = path_of(model, gpu, setting, app), plans_of(app, number)
    if name in PAIRS:
        known = of_pair(model, name, path, plans)
        base = known.get("baseline")
        return base and (f"{PAIRS[name][0]}, {LONG} by {SHORT} and {SHORT} by {LONG}", LONG / 256 / (base["resident"] * n_sms(gpu)),
                         [known[p] for p in plans])
    workload, size = INSTEAD.get(name, app[1:3])
    known = model.rows(workload, path, size, plans)
    base = known["baseline"]
    if not base or not known.whole:
        return None
    return f"{workload}, {size}", model.waves(workload, gpu, size, base), [known[p] for p in plans]


def rate(row):
    return row["l1_hits"] / row["l1_sectors"] if row["l1_sectors"] else None


def without_largest(average, largest, n):
    """A mean of n without the largest of them."""
    return (n * average - largest) / (n - 1) if largest else None


MEANS = (("arithmetic mean", mean), ("geometric mean", geomean),
         ("arithmetic mean without the largest", lambda v: mean(sorted(x for x in v if x)[:-1])))


def class_rows(model, kind, apps, number, gpu, generation, setting):
    """The rows of a class's applications on one GPU, and those of its means."""
    rows, gains, sectors = [], [[], [], []], [[], []]
    where = [f"{generation} ({gpu})", called(setting), kind]
    for app in apps:
        found = application(model, app, number, gpu, setting)
        if not found:
            continue
        what, waves, (base, all_, *fewer) = found
        fewest = fewer[0] if fewer else all_
        total = min(all_, fewest, key=lambda r: r["time_us"])
        speeds = [base["time_us"] / r["time_us"] for r in (all_, total)]
        moved = [ratio(r, base, "l2_sectors") for r in (all_, total)]
        for of, x in zip(gains + sectors, speeds + [max(1.0, *speeds)] + moved):
            of.append(x)
        rows.append(where + [app[0], what, waves_text(waves), f"{base['time_us']:.0f}"] + [percent(rate(r)) for r in (base, all_, total)] +
                    [times(speeds[0]), times(base["time_us"] / fewest["time_us"]) if fewer else "", app[4][number], times(gains[2][-1])] + [change(m) for m in moved])
    average, largest = PAPER[kind][generation]
    theirs = [times(average), times(average), times(without_largest(average, largest, len(apps)))]
    means = [where + [title, f"of {len(rows)}"] + [times(of(g)) for g in gains] + [paper] +
             ([change(of(s)) for s in sectors] + [SECTORS[kind][generation]] if of in (mean, geomean) else ["", "", ""])
             for (title, of), paper in zip(MEANS, theirs)]
    return rows, means if len(rows) == len(apps) else []


# What is put in where the class gains less than in the paper. A quarter of L2's bandwidth is less than DRAM's, and so no real GPU's: it stands for
# whatever makes time depend on L2's sectors. Of how fast CTAs start nothing is published. Each is tried for the applications that take seconds.
CAUSES_PUT_IN = (("a quarter of L2", {"l2": 0.25}), ("a CTA each 10 cycles", {"cta": 10}), ("both", {"l2": 0.25, "cta": 10}))
EACH = ("BKP", "DCT", "SGM", "HS")


def gain(found):
    """The fastest bar, or the default."""
    base, *bars = found[2]
    return max([1.0] + [base["time_us"] / r["time_us"] for r in bars])


def causes(model, page):
    """The algorithm-related class again, with each cause put in."""
    rows, means = [], []
    for number, (gpu, generation, setting, paper, *_) in enumerate(CLU_GPUS):
        before, after = [], []
        for app in CLU_ALGORITHM:
            tabled = application(model, app, number, gpu, setting)
            with model.at(CAUSES + 10 * (app[0] not in EACH) + 10 * (app[0] in ("MM", "IMD"))):
                found = [application(model, app, number, gpu, setting | put) if app[0] in EACH or name == "both" else None
                         for name, put in CAUSES_PUT_IN]
            if not tabled:
                continue
            before.append(gain(tabled))
            after.append(gain(found[-1]) if found[-1] else before[-1])
            if any(found):
                rows.append([f"{generation} ({gpu})", app[0], tabled[0], times(before[-1])] + [times(gain(f)) if f else "" for f in found] +
                            [change(ratio(found[-1][2][1], found[-1][2][0], "l2_sectors")) if found[-1] else ""])
        if before:
            least = lambda v: mean(sorted(v)[:-1])
            means += [[f"{generation} ({gpu})", title, f"of {len(before)}", times(of(before)), times(of(after)), theirs]
                      for title, of, theirs in (("arithmetic mean", mean, paper[1]), ("geometric mean", geomean, paper[1]),
                                                ("arithmetic mean without the largest", least,
                                                 times(without_largest(*PAPER["algorithm"][generation], len(CLU_ALGORITHM)))))]
    if not rows:
        return
    page.text("### Causes put in",
              "The best bar of each algorithm-related application with what may be missing put in: a quarter of L2's bandwidth, so that the sectors that agents spare cost time (it is less than "
              "DRAM's, and so no real GPU's); CTAs that start one in 10 cycles, which agents need not; both. Below, the means with both; an application that has no line here counts as in the table above.")
    page.table("clu-strides-causes", ["GPU", "application", "workload, size", "as tabled"] + [name for name, _ in CAUSES_PUT_IN] +
               ["L2 sectors, strides, both"], rows)
    page.table("clu-strides-causes-means", ["GPU", "mean", "applications", "as tabled", "both put in", "the paper"], means)


H200 = os.path.join(ROOT, "bench", "results", "H200-2026-11-27", "agents.txt")
H200_SLOW = ("kmeans", "sgemm", "softmax", "transpose")  # take longest, or are no application of the papers


def measured_agents():
    """{workload: (agents that claim each task, agents by strides)}, as measured on an H200, over the default."""
    with open(H200) as f:
        rows = [re.split(r"  +", line.strip()) for line in f]
    return {r[0]: [float(x.split()[0]) for x in r[2:4]] for r in rows[1:-1]}


def on_h200(model, page):
    """Both kinds of agents as measured and by the clock."""
    rows, gains, plans = [], [[], [], [], []], ["baseline", "bind=agents", "bind=agents,take=strides"]
    for workload, measured in measured_agents().items():
        if workload in H200_SLOW:
            continue
        with model.at(CAUSES):
            known = model.rows(workload, "h200", "paper", plans)
        if not known.whole:
            continue
        clock = [known["baseline"]["time_us"] / known[p]["time_us"] for p in plans[1:]]
        cells = [x for pair in zip(measured, clock) for x in pair]
        for of, x in zip(gains, cells):
            of.append(x)
        rows.append([workload] + [times(x) for x in cells])
    if not rows:
        return
    rows.append([f"geometric mean of {len(rows)}"] + [times(geomean(g)) for g in gains])
    page.text("### On an H200",
              "All agents over the default, as measured on an H200 (bench/results/H200-2026-11-27/agents.txt) and as the clock predicts them there.")
    page.table("clu-strides-h200", ["workload, size paper", "claiming: measured", "claiming: clock", "strides: measured", "strides: clock"], rows)


def chapter(model, page):
    page.text("## CLU by listing 5",
              "CLU's figures 12 and 13 by the agents of its listing 5 (`take=strides`): a worker takes one stride of its SM's cluster when it starts, and no atomic stands "
              "between two tasks. *strides* has all agents that fit, *table 2* as many as CLU's table 2 names where those are fewer, *+TOT* is the faster one. Images come through textures as in the CUDA "
              "samples (IMD of 160 by 136 pixels, a sixth of the sample's; SGM with an eighth of the depth); SYK and S2K have rows of 1024 numbers; ATX, MVT and BC are their two kernels, each over a matrix of "
              f"{LONG} by {SHORT} numbers that lies so that 96 CTAs share it. *best* is the fastest bar, or the default. The paper's mean without its largest bar follows from the two numbers that its "
              "text gives (5.1).")
    rows, means = [], []
    for turn, (gpu, generation, setting, *_) in enumerate(CLU_GPUS + FERMI_TWICE[1:]):
        number = next(i for i, g in enumerate(CLU_GPUS) if g[0] == gpu)
        for kind, apps in (("algorithm", CLU_ALGORITHM), ("cache-line", CLU_CACHE_LINE)):
            with model.at(HEADLINES + turn if kind == "algorithm" else (CAUSES + 40 if number > 1 else HEADLINES + 10) + 2 * number + (turn > number)):
                more = class_rows(model, kind, apps, number, gpu, generation, setting)
            rows += more[0]
            means += more[1]
    if not rows:
        page.text("Not modelled.")
        return
    page.table("clu-strides", ["GPU", "setting", "class", "application", "workload, size", "waves", "us", "L1 hits", "L1 hits, strides", "L1 hits, +TOT", "strides",
                               "table 2", "agents of table 2", "best", "L2 sectors, strides", "L2 sectors, +TOT"], rows)
    page.table("clu-strides-means", ["GPU", "setting", "class", "mean", "applications", "strides", "+TOT", "best", "the paper", "L2 sectors, strides", "L2 sectors, +TOT",
                                     "L2 transactions in the paper"], means)
    causes(model, page)
    on_h200(model, page)

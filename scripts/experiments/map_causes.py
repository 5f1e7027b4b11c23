"""Causes put into MAP's figure 4: kernels whose warps evict each other's lines, of which a scheduler can gain; L2 that costs more."""
from .mapping import MAP_APPS, MAP_PLANS
from .model import CAUSES, geomean, hits, ratio
from .page import change, percent, times

GPU = "gtx480"
# Rows of matrices and of points that every thread of a warp reads a line of at once, and again for its next words.
KERNELS = [("SYK", "syrk", "paper n=96 m=1024"), ("S2K", "syr2k", "paper n=96 m=1024"), ("KMN", "kmeans-invert", "paper points=61753")]
SCHEDULERS = [("CCWS", "ccws"), ("ps", "priority"), ("ps, group of 2", "priority:2"), ("ps, group of 4", "priority:4"),
              ("ps, group of 8", "priority:8")]


def schedulers(model, page):
    page.text("### Schedulers, where they can gain",
              f"CCWS and the programmable scheduler (*ps*) over GTO on {GPU}, as in MAP's figure 4, on kernels that are none of its eight: their warps come back to lines that other "
              "warps have evicted meanwhile. *misses* are those of L1's loads. *ps* alone takes its group from the launch's loads; the others have groups of so many warps of high priority.")
    rows, gains = [], [[] for _ in range(len(SCHEDULERS) + 1)]
    for name, workload, size in KERNELS:
        with model.at(CAUSES):
            known = [model.rows(workload, GPU, size, ["baseline"], None, ("--scheduler", s) if s else ())["baseline"]
                     for s in [""] + [s for _, s in SCHEDULERS]]
        if not all(known):
            continue
        gto = known[0]
        speeds = [gto["time_us"] / r["time_us"] for r in known[1:]]
        speeds.append(max(speeds[1:]))
        for of, x in zip(gains, speeds):
            of.append(x)
        rows.append([name, f"{workload}, {size}", percent(1 - hits(gto))] + [times(x) for x in speeds] + [percent(1 - hits(r)) for r in known[1:]])
    if not rows:
        page.text("Not modelled.")
        return
    rows.append(["", f"geometric mean of {len(rows)}", ""] + [times(geomean(g)) for g in gains] + [""] * len(SCHEDULERS))
    page.table("map-schedulers", ["kernel", "workload, size", "misses, GTO"] + [name for name, _ in SCHEDULERS] + ["ps, best group"] +
               ["misses, " + name for name, _ in SCHEDULERS], rows)


SLOW = (None, 0.25)  # parts of L2's bandwidth


def mappings(model, page):
    rows, gains = [], [[], []]
    for app, workload, size, _ in MAP_APPS:
        direction = next((d for _, d in model.directions(workload, GPU, size) if d in MAP_PLANS), None)
        if not direction:
            continue
        plan = MAP_PLANS[direction]
        with model.at(CAUSES + 30):
            known = [model.rows(workload, model.variant(GPU, l2=part), size, ["baseline", plan], None, ("--free-mapping",)) for part in SLOW]
        if not all(k.whole and k["baseline"] and k[plan] for k in known):
            continue
        speeds = [k["baseline"]["time_us"] / k[plan]["time_us"] for k in known]
        for of, x in zip(gains, speeds):
            of.append(x)
        rows.append([app, f"{workload}, {size}", direction] + [times(x) for x in speeds] + [change(ratio(known[-1][plan], known[-1]["baseline"], "l2_sectors"))])
    if not rows:
        return
    more = 1 if len(rows) < len(MAP_APPS) else 0  # mum, which has no direction and stays as it is
    rows.append(["", f"geometric mean of {len(rows) + more}", ""] + [times(geomean(g + [1.0] * more)) for g in gains] + [""])
    page.text("### Mapping, where L2 costs more",
              f"The mapping of CTAs on {GPU}, as in MAP's figure 4, and with a quarter of L2's bandwidth, so that the sectors that it spares cost time (that is less than DRAM's, and so no real GPU's). The mean counts mum, which has no "
              "direction, as it is.")
    page.table("map-slow-l2", ["MAP", "workload, size", "direction", "cm", "cm, a quarter of L2", "L2 sectors"], rows)


def chapter(model, page):
    page.text("## MAP: causes put in")
    schedulers(model, page)
    mappings(model, page)

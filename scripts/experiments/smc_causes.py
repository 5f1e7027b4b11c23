"""Causes put into SMC's figures: 5.2's own partition, of seeds of little affinity, one for each SM, and clusters that are enlarged from
them; memory that costs more."""
import os
import random

from .model import CAUSES, geomean, hits, n_sms, ratio, speedup
from .page import change, percent, times
from .smc import BENCHMARKS, GPU, L1, corun_row, pairs

NAMES = ("md", "cfd", "nbf")  # irreg launches two grids, and a table is one grid's
WORKERS = (1, 2, 3, 4, 6)
RUNS = (1, 2)  # seeds of the random choices


def components(n, near):
    """The affinity graphs: a number for each vertex."""
    of, count = [None] * n, 0
    for start in range(n):
        if of[start] is not None:
            continue
        of[start], stack = count, [start]
        while stack:
            for other in near[stack.pop()]:
                if of[other] is None:
                    of[other] = count
                    stack.append(other)
        count += 1
    return of, count


def choose_seeds(n, near, clusters, draw):
    """Step 1: a vertex of each graph, then others whose affinity with all seeds is at most a threshold, which grows by 0.1."""
    of, count = components(n, near)
    firsts = [draw.choice([v for v in range(n) if of[v] == k]) for k in range(count)]
    if count >= clusters:
        return draw.sample(firsts, clusters)
    seeds, threshold = firsts, 0.0
    rest = [v for v in range(n) if v not in set(seeds)]
    draw.shuffle(rest)
    while len(seeds) < clusters:
        for v in list(rest):
            if len(seeds) < clusters and all(near[v].get(s, 0) <= threshold for s in seeds):
                seeds.append(v)
                rest.remove(v)
        threshold += 0.1
    return seeds


def partition(n, near, clusters, draw):
    """Steps 2 and 3: each cluster in turn takes, of all vertices left, the one with most affinity to a random one of its own; any, where none
    has some. Clusters of n / clusters vertices, the first ones one more: tasks in the order in which they were taken."""
    taken = [[s] for s in choose_seeds(n, near, clusters, draw)]
    left = set(range(n)) - {c[0] for c in taken}
    lists = [sorted(of, key=lambda v: (-of[v], v)) for of in near]
    while left:
        for k, cluster in enumerate(taken):
            if len(cluster) < n // clusters + (k < n % clusters) and left:
                own = draw.choice(cluster)
                v = next((v for v in lists[own] if v in left), None)
                cluster.append(draw.choice(sorted(left)) if v is None else v)
                left.discard(cluster[-1])
    return [v for c in taken for v in c]


def table_of(model, workload, size, edges, run):
    """The file of a partition, for order=table."""
    n = 1 + max(max(e[:2]) for e in edges)
    near = [{} for _ in range(n)]
    for a, b, affinity in edges:
        near[a][b] = near[b][a] = affinity
    order = partition(n, near, n_sms(GPU), random.Random(run))
    path = os.path.join(model.cache, f"seeds-{workload}-{size}-{run}.txt".replace(" ", "_"))
    with open(path, "w") as f:
        f.write("\n".join(map(str, order)) + "\n")
    return path


def by_seeds(model, page):
    page.text("### Seeds and enlargement",
              f"SMC 5.2's own partition of CTAs among the {n_sms(GPU)} SMs of {GPU} (48 KB of L1), beside the order by affinity that heddle has in place of it (`order=affinity`), which is cut "
              "into as many chunks: the fastest of 1, 2, 3, 4, 6 and all workers on an SM, over the default. The partition draws random vertices; both of its columns are runs with other "
              "numbers. Edges are the same: an affinity of 0.05 or more, 64 to a CTA at most. irreg launches two grids, of which a table can order one.")
    rows, gains = [], [[], [], []]
    for name, workload, size in (b for b in BENCHMARKS if b[0] in NAMES):
        with model.at(CAUSES):
            edges = model.affinity(workload, size)
            ways = ["affinity"] + ["table:" + table_of(model, workload, size, edges, run) for run in RUNS] if edges else []
            plans = [[f"order={way},bind=agents"] + [f"order={way},bind=agents:{n}" for n in WORKERS] for way in ways]
            known = model.rows(workload, GPU, size, ["baseline"] + [p for of in plans for p in of], L1)
        base = known["baseline"]
        if not edges or not base or not known.whole:
            continue
        best = [min((known[p] for p in of if known[p]), key=lambda r: r["time_us"]) for of in plans]
        for of, row in zip(gains, best):
            of.append(speedup(row, base))
        rows.append([name, f"{workload}, {size}"] + [times(speedup(r, base)) for r in best] + [percent(1 - hits(r)) for r in [base] + best] +
                    [change(ratio(r, base, "l2_sectors")) for r in best])
    if not rows:
        page.text("Not modelled.")
        return
    rows.append(["", f"geometric mean of {len(rows)}"] + [times(geomean(g)) for g in gains] + [""] * 7)
    ways = ("affinity", "seeds", "seeds, again")
    page.table("smc-seeds", ["SMC", "workload, size"] + list(ways) + ["L1 misses"] + ["L1 misses, " + w for w in ways] + ["L2 sectors, " + w for w in ways], rows)


# Pairs that take least, and what is put in for each.
FEW_PAIRS = ("irreg-mm", "mm-reduce", "nbf-mm")
MEMORY = (("as tabled", {}), ("a quarter of L2", {"l2": 0.25}))


def with_slow_l2(model, page):
    """Whether a kernel that loses SMs loses as much speed depends on what all SMs share."""
    rows, gains = [], [[] for _ in range(2 * len(MEMORY))]
    for a, b in pairs():
        if f"{a[0]}-{b[0]}" not in FEW_PAIRS:
            continue
        with model.at(CAUSES + 20):
            found = [model.corun((a[1], b[1]), (a[2], b[2]), model.variant(GPU, L1, **put)) for _, put in MEMORY]
        if not all(found):
            continue
        cells = [x for (streams, smc, _), _ in map(corun_row, found) for x in (streams[1] / smc[1], smc[0] / streams[0])]
        for of, x in zip(gains, cells):
            of.append(x)
        rows.append([f"{a[0]}, {b[0]}"] + [times(x) for x in cells])
    if not rows:
        return
    rows.append([f"geometric mean of {len(rows)}"] + [times(geomean(g)) for g in gains])
    page.text("### Co-runs, where L2 costs more",
              "A few pairs with a quarter of L2's bandwidth (less than DRAM's, and so no real GPU's), which all SMs share: a kernel on half of the SMs then takes less than twice as long.")
    page.table("smc-slow-l2", ["SMC"] + [f"{name}: {what} gain" for name, _ in MEMORY for what in ("ANTT", "STP")], rows)


def chapter(model, page):
    page.text("## SMC: causes put in")
    by_seeds(model, page)
    with_slow_l2(model, page)

"""SMC: affinity, workers bound to SMs, and co-runs."""
import itertools
import statistics

from . import h100, plot
from .model import CAUSES, KB, geomean, hits, ipc, mean, n_sms, ratio, speedup, without_outliers
from .page import change, percent, reason, times, waves_text

# The paper's table 1, at the paper's sizes.
BENCHMARKS = [("irreg", "irreg", "paper"), ("nbf", "nbf", "paper"), ("md", "md", "paper"), ("spmv", "spmv-vector", "paper"),
              ("cfd", "cfd", "paper"), ("pf", "pathfinder", "paper"), ("mm", "matmul-blocked", "medium"), ("reduce", "reduce", "paper"),
              ("nn", "nearest-neighbour", "paper")]
SINGLE = {"md": 256, "irreg": 256, "cfd": 192, "nbf": 256}  # threads of a CTA
MOST_THREADS = 1024  # of a CTA, on Fermi
GPU, L1 = "m2075", 48 * KB


def pairs():
    """Those with nn last: it takes 4 us, so that hundreds of its turns fit into one of another's."""
    all_ = list(itertools.combinations(BENCHMARKS, 2))
    return sorted(all_, key=lambda p: p[1][0] == "nn")


def affinity(model, page):
    rows, gain, bound = [], [], []
    for name, workload, size in (b for s in SINGLE for b in BENCHMARKS if b[0] == s):
        plans = {n: f"order=affinity,bind=agents:{n}" for n in (1, 2, 3, 4, 6)}
        known = model.rows(workload, GPU, size, ["baseline", "bind=agents", "bind=agents:1", "order=affinity,bind=agents"] +
                           list(plans.values()), L1)
        base = known["baseline"]
        with_order = [(r["time_us"], p, r) for p, r in known.items() if r and p.startswith("order")]
        if not base or not with_order:
            rows.append([name, f"{workload}, {size}"] + ["-"] * 19)
            continue
        _, plan, row = min(with_order)
        # As many workers as a CTA that is as large as an SM allows has warps for.
        n, resident = MOST_THREADS // SINGLE[name], int(base["resident"])
        large = [order + (f"bind=agents:{n}" if n < resident else "bind=agents") for order in ("", "order=affinity,")]
        known.update(model.rows(workload, GPU, size, large, L1))
        gain.append(speedup(row, base))
        bound.append((name, [speedup(known[p], base) for p in ("bind=agents:1", plans[1])] + [speedup(row, base)] +
                      [speedup(known[p], base) for p in large]))
        miss = lambda r: 1 - hits(r) if hits(r) is not None else None
        rows.append([name, f"{workload}, {size}", waves_text(model.waves(workload, GPU, size, base)), f"{base['time_us']:.0f}",
                     f"{ipc(base, GPU):.0f}", f"{ipc(row, GPU):.0f}"] +
                    [percent(miss(r)) for r in (base, known["bind=agents"], row)] +
                    [f"{miss(row) / miss(base):.2f}" if miss(base) else "-", change(ratio(row, base, "l2_sectors"))] +
                    [times(bound[-1][1][k]) for k in (0, 1, 3, 4)] + [times(speedup(known["bind=agents"], base)), times(speedup(row, base)), f"`{plan}`", reason(base, row)] +
                    list(h100.beside(model, workload, r"bind=agents(:\d+)?$")))
    mean = lambda k: times(geomean([b[1][k] for b in bound]))
    rows.append(["", f"geometric mean of {len(gain)}"] + [""] * 9 + [mean(0), mean(1), mean(3), mean(4), "", times(geomean(gain))] + [""] * 4)
    rows.append(["", "the paper, 6.3, figure 6"] + [""] * 9 + ["0.78x", "0.85x", "0.78x", "0.85x", "", "1.21x", "average of the four"] + [""] * 3)
    page.table("smc-affinity", ["SMC", "workload, size", "waves", "us", "IPC", "IPC, affinity", "L1 misses", "L1 misses, agents",
                                "L1 misses, affinity", "misses of the default's", "L2 sectors", "persistent threads",
                                "persistent threads with affinity", "large CTAs", "large CTAs with affinity", "agents", "affinity, best N", "plan", "what moved",
                                "agents on an H100: measured", "agents on an H100: clock"], rows)
    if bound:
        page.plot("smc-single", plot.bars, "m2075: speedup of single kernels (SMC figure 6)", "times", bound,
                  ["threads", "with affinity", "SMs, affinity", "large CTAs", "with affinity"], (1, "default"))


def overhead(model, page):
    rows, all_ = [], []
    for name, workload, size in BENCHMARKS:
        known = model.rows(workload, GPU, size, ["baseline", "bind=agents"], L1)
        base, agents = known["baseline"], known["bind=agents"]
        if base and agents:
            all_.append(agents["time_us"] / base["time_us"])
            rows.append([name, f"{workload}, {size}", waves_text(model.waves(workload, GPU, size, base)), f"{base['time_us']:.0f} us",
                         change(all_[-1])])
    rows.append(["", f"geometric mean of {len(all_)}", "", "", change(geomean(all_))])
    rows.append(["", "the paper, 6.4, figure 8", "", "", "+2.8%, at most +6.5% (pf)"])
    page.text("Overhead of the transformation without affinity (`bind=agents`, as many workers as CTAs that fit), in time:")
    page.table("smc-overhead", ["SMC", "workload, size", "waves", "default", "overhead"], rows)


def corun_row(r):
    """STP and ANTT of streams, partitions and persistent threads; the partition."""
    modes = {row["mode"]: row for row in r["rows"] if "stp" in row}
    return [(modes[m]["stp"]["median"], modes[m]["antt"]["median"]) if m in modes else (None, None)
            for m in ("streams", "partition", "threads")], modes.get("partition")


def carrier(values, groups):
    """The pair of the largest value, and its part of what the mean is above 1."""
    most = max(range(len(values)), key=lambda k: values[k] or 0)
    above = sum(v - 1 for v in values if v)
    part = f", {100 * (values[most] - 1) / above:.0f}% of the gain" if above > 0 else ""
    return f"{groups[most][0].replace('-', ', ')}: {times(values[most])}{part}"


def coruns(model, page, path):
    rows, stp, antt, groups = [], [[], []], [[], []], []
    for a, b in pairs():
        r = model.corun((a[1], b[1]), (a[2], b[2]), path)
        name = f"{a[0]}, {b[0]}"
        if not r:
            continue
        (streams, smc, threads), partition = corun_row(r)
        cells = []
        for k, other in enumerate((smc, threads)):
            stp[k].append(other[0] / streams[0] if other[0] else None)
            antt[k].append(streams[1] / other[1] if other[1] else None)
            cells += [times(antt[k][-1]), times(stp[k][-1])]
        groups.append((f"{a[0]}-{b[0]}", [antt[0][-1], antt[1][-1], stp[0][-1], stp[1][-1]]))
        where = f"{partition['sms'][0]} + {partition['sms'][1]}, {partition['agents'][0]} and {partition['agents'][1]} CTAs" if partition else "-"
        rows.append([name, f"{r['alone_us'][0]:.0f}, {r['alone_us'][1]:.0f}", f"{streams[0]:.2f}", f"{streams[1]:.2f}"] + cells + [where])
    if not rows:
        page.text("Co-runs (SMC 6.2): not modelled.")
        return
    gains, without_nn = (antt[0], stp[0], antt[1], stp[1]), [k for k, (name, _) in enumerate(groups) if not name.endswith("-nn")]
    for title, of in ((f"geometric mean of {len(groups)} of 36", geomean), (f"arithmetic mean of {len(groups)}", mean),
                      (f"median of {len(groups)}", lambda v: statistics.median([x for x in v if x])),
                      ("arithmetic mean without the largest and the least", lambda v: mean(without_outliers(v))),
                      (f"geometric mean of {len(without_nn)}, without nn", lambda v: geomean([v[k] for k in without_nn]))):
        rows.append([title, "", "", ""] + [times(of(v)) for v in gains] + [""])
    rows.append(["the pair that carries the arithmetic mean most", "", "", ""] + [carrier(v, groups) for v in gains] + [""])
    rows.append(["the paper, 6.2, figures 3 and 4", "", "", "", "1.33x (1.36x at best)", "1.33x (1.37x)", "0.83x", "1.11x", ""])
    page.text("### Co-runs (SMC 6.2)",
              "Pairs of the nine benchmarks on m2075 with 48 KB of L1 (`heddle corun A B --device model:m2075`): both run again and again. "
              "ANTT is the average normalised turnaround time, STP the throughput of the system; *gain* is over two plain streams, in "
              "which the launch that came first has the GPU until all of its CTAs have started. *SM-centric*: partitions found as in 5.1; "
              "*threads*: persistent threads, one CTA on an SM, the better one of halves and that partition.")
    page.table("smc-coruns", ["SMC", "alone, us", "streams: STP", "streams: ANTT", "ANTT gain", "STP gain", "threads: ANTT gain",
                              "threads: STP gain", "partition: SMs, CTAs on each"], rows)
    page.plot("smc-coruns", plot.bars, "m2075: co-runs over plain streams (SMC figures 3 and 4)", "times", groups,
              ["ANTT, SMC", "ANTT, threads", "STP, SMC", "STP, threads"], (1, "streams"))


# Pairs that are also run with other MSHRs: those that take the least time.
FEW_PAIRS = ("irreg-mm", "mm-reduce", "nbf-mm", "md-mm", "irreg-nbf")


def with_mshrs(model, page):
    """Whether a kernel on half of the SMs takes twice as long depends on what an SM's own MSHRs limit."""
    rows, gains = [], [[], [], [], []]
    for a, b in pairs():
        if f"{a[0]}-{b[0]}" not in FEW_PAIRS:
            continue
        with model.at(CAUSES + 40):
            found = [model.corun((a[1], b[1]), (a[2], b[2]), model.variant(GPU, L1, mshrs=n)) for n in (None, 128)]
        if not all(found):
            continue
        cells = []
        for k, r in enumerate(found):
            (streams, smc, _), _ = corun_row(r)
            cells += [streams[1] / smc[1], smc[0] / streams[0]]
        for of, x in zip(gains, cells):
            of.append(x)
        rows.append([f"{a[0]}, {b[0]}"] + [times(x) for x in cells])
    if not rows:
        return
    rows.append([f"geometric mean of {len(rows)}"] + [times(geomean(g)) for g in gains])
    page.text("### Co-runs with 128 MSHRs",
              "A few pairs again with twice the MSHRs of an SM, which are not published.")
    page.table("smc-mshrs", ["SMC", "ANTT gain", "STP gain", "128 MSHRs: ANTT gain", "128 MSHRs: STP gain"], rows)


def corun_splits(model, path):
    """Each pair with every number of SMs for the first, hill climbing over CTAs: {pair: [(ANTT, STP)]}."""
    all_ = {}
    for a, b in pairs():
        found = [model.corun((a[1], b[1]), (a[2], b[2]), path, n) for n in range(1, n_sms(GPU))]
        if all(found):
            all_[a[0], b[0]] = [corun_row(r)[0][1] for r in found]
    return all_


def accuracy(model, page, path):
    """SMC figure 5: the prediction's rank among all numbers of SMs."""
    ranks, gains = [[], []], [[], []]
    for (a, b), splits in corun_splits(model, path).items():
        one, two = ([x for x in BENCHMARKS if x[0] == n][0] for n in (a, b))
        r = model.corun((one[1], two[1]), (one[2], two[2]), path)
        if not r:
            continue
        (streams, predicted, _), _ = corun_row(r)
        for k, better in ((0, lambda x, y: x > 1.001 * y), (1, lambda x, y: x < y / 1.001)):
            ranks[k].append(sum(better(s[k], predicted[k]) for s in splits))
            best = (max if k == 0 else min)(s[k] for s in splits)
            gains[k].append(best / streams[k] if k == 0 else streams[k] / best)
    if not ranks[0]:
        return
    n = len(ranks[0])
    page.text("### Prediction accuracy (SMC figure 5)",
              f"The partition that 5.1's search takes, among all {n_sms(GPU) - 1} numbers of SMs for the first kernel (each with its own "
              f"search over CTAs), for {n} of 36 pairs: how many partitions are better by more than 0.1%. The best of all gains "
              f"{times(geomean(gains[1]))} by ANTT and {times(geomean(gains[0]))} by STP over streams (the paper's optimum: 1.36x and "
              "1.37x).")
    page.table("smc-accuracy", ["pairs whose prediction is", "ANTT", "ANTT: the paper", "STP", "STP: the paper"],
               [[name] + [x for k, theirs in ((1, antt), (0, stp)) for x in (percent(sum(r <= most for r in ranks[k]) / n), theirs)]
                for name, most, antt, stp in (("the best", 0, "63% (of 36 partitions)", "-"), ("among the best two", 1, "83% (in 2%)", "-"),
                                              ("among the best three", 2, "-", "90% (in 4%)"))])


def whole(model):
    """Every partition of every pair."""
    corun_splits(model, larger_l1(model))


def larger_l1(model):
    return model.variant(GPU, L1)


def chapter(model, page):
    page.text("## SMC: affinity and workers bound to SMs",
              "Single kernels (SMC 6.3), on m2075 with 48 KB L1: the default; *persistent threads*, one worker on each SM, without and "
              "with affinity; *large CTAs*, the same with as many workers as make 1024 threads, where the paper makes the one CTA "
              "as large as an SM allows; workers bound to SMs without affinity; and CTAs that share data on one SM (SMC 5.2), with the number of "
              "active workers that is fastest here. " + h100.sentence(model, r"bind=agents"))
    affinity(model, page)
    overhead(model, page)
    coruns(model, page, larger_l1(model))
    with_mshrs(model, page)
    if model.frozen:
        accuracy(model, page, larger_l1(model))

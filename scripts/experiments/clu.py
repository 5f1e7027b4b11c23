"""CLU: CTA clustering, figures 12 and 13."""
from . import plot
from .model import KB, geomean, hits, n_sms, number_of, ratio, speedup
from .page import change, percent, times, waits, waves_text

# Abbreviation, workload, size, partition (col: X-P, row: Y-P), best numbers of agents on Fermi, Kepler, Maxwell, Pascal:
# CLU table 2. A size is the paper's where nothing stands behind it.
CLU_ALGORITHM = [
    ("KMN", "kmeans", "paper points=123505 side=22", "col", (1, 1, 1, 1)),
    ("MM", "matmul-tiled", "paper n=320", "row", (1, 2, 2, 2)),
    ("NN", "nn", "paper images=4", "row", (8, 16, 32, 32)),
    ("IMD", "image-denoising", "paper width=160 height=136", "row", (8, 16, 14, 16)),
    ("BKP", "backprop", "paper", "col", (6, 8, 8, 8)),
    ("DCT", "dct8x8", "paper", "col", (8, 16, 32, 24)),
    ("SGM", "sgemm", "paper k=128", "col", (7, 9, 8, 8)),
    ("HS", "hotspot", "paper", "row", (3, 5, 6, 6)),
]
CLU_CACHE_LINE = [
    ("SYK", "syrk", "paper n=512 m=64", "col", (3, 2, 8, 8)),
    ("S2K", "syr2k", "paper n=512 m=64", "col", (1, 1, 6, 6)),
    ("ATX", "atax", "paper", "col", (1, 1, 1, 1)),
    ("MVT", "mvt", "paper", "col", (1, 1, 1, 1)),
    ("NBO", "nbody", "paper bodies=4096 cta=64", "row", (2, 4, 5, 2)),
    ("3CV", "conv3d", "paper ni=32", "row", (6, 8, 8, 8)),
    ("BC", "bicg", "paper", "col", (1, 1, 1, 8)),
]
CLU_OTHERS = [
    ("HST", "histogram", "small", "col", (5, 5, 6, 7)),
    ("BTR", "btree", "small", "col", (5, 8, 8, 8)),
    ("NW", "nw", "small", "col", (8, 16, 16, 8)),
    ("BFS", "bfs", "small", "col", (2, 6, 6, 7)),
    ("MON", "monte-carlo", "small", "col", (4, 4, 8, 8)),
    ("DXT", "dxtc", "small", "col", (8, 8, 10, 10)),
    ("SAD", "sad", "small", "col", (8, 16, 20, 20)),
    ("BS", "black-scholes", "small", "col", (8, 16, 16, 12)),
]
# GPU, generation, L1 (None: the GPU's own), L2 transactions less and speedup in the paper (section 5.1): algorithm-
# related, then cache-line related.
CLU_GPUS = [
    ("gtx570", "Fermi", 16 * KB, ("-55%", "1.46x"), ("-81%", "1.47x")),
    ("k40", "Kepler", 16 * KB, ("-65%", "1.48x"), ("-71%", "1.29x")),
    ("gtx980", "Maxwell", None, ("-29%", "1.45x"), ("-34%", "no gain")),
    ("gtx1080", "Pascal", None, ("-28%", "1.42x"), ("-", "no gain")),
]
AGENTS = (1, 2, 4, 8)


def clu_plans(partition):
    order = [] if partition == "row" else ["order=" + partition]
    join = lambda *levers: ",".join(order + list(levers))
    return {"RD": join("bind=redirect"), "CLU": join("bind=agents"),
            "TOT": {n: join(f"bind=agents:{n}") for n in AGENTS}, "join": join}


def clu_application(model, app, gpu, l1, prefetch):
    """Rows for default, RD, CLU, CLU+TOT, CLU+TOT+BPS (or +PFH), and the number of agents."""
    _, workload, size, partition, _ = app
    p = clu_plans(partition)
    known = model.rows(workload, gpu, size, ["baseline", p["RD"], p["CLU"]] + list(p["TOT"].values()), l1)
    base, clu = known["baseline"], known[p["CLU"]]
    if not base:
        return None
    resident = base["resident"] if base else 0
    tot = [(known[plan]["time_us"], known[plan]["l2_sectors"], n) for n, plan in p["TOT"].items()
           if known[plan] and n < resident]
    if clu:
        tot.append((clu["time_us"], clu["l2_sectors"], int(resident)))
    if not tot:
        return None
    # Of times within 1/1000, the one with less traffic.
    least = min(t[0] for t in tot)
    n = min((t for t in tot if t[0] <= 1.001 * least), key=lambda t: t[1:])[2]
    bind = f"bind=agents:{n}" if n < resident else "bind=agents"
    extra = p["join"](bind, "prefetch=l1:1" if prefetch else "stream=auto")
    extra_row = model.rows(workload, gpu, size, [extra], l1)[extra]
    if not extra_row and not prefetch:
        extra_row = known[p["TOT"][n]] if n < resident else clu  # no load to bypass
    return base, known[p["RD"]], clu, known[p["TOT"][n]] if n < resident else clu, extra_row, n


def occupancy(row, gpu):
    """Achieved: warps at once, of those that an SM has room for (CLU figure 12, AC_OCP)."""
    if not row or not row.get("warp_cycles"):
        return None
    cycles = row["time_us"] * number_of(gpu, "clock_mhz") * n_sms(gpu)
    return row["warp_cycles"] / cycles / number_of(gpu, "warps")


def counters(page, known, gpu):
    """Why the bars of an application are as long as they are."""
    page.text("Counters behind the bars: achieved occupancy; what warps wait for, in % of their time (m: memory, d: dependences, "
              "b: barriers, t: full queues and pipelines, i: others issue); instructions of threads and bytes of DRAM under +TOT.")
    rows = []
    for name, (base, rd, clu, tot, more, n) in known:
        dram = lambda r: r["dram_read_bytes"] + r["dram_write_bytes"]
        rows.append([name] + [percent(occupancy(r, gpu)) for r in (base, rd, clu, tot)] + [waits(base), waits(clu), waits(tot)] +
                    [change(ratio(tot, base, "thread_instructions")), change(dram(tot) / dram(base) if dram(base) else None)])
    page.table(["CLU", "AC_OCP", "RD", "CLU", "+TOT", "waits", "CLU", "+TOT", "instructions", "DRAM"], rows)


def clu_table(model, page, apps, gpu, number, l1, paper, prefetch, against, name, kind):
    extra = "PFH" if prefetch else "BPS"
    head = ["CLU", "workload, size", "waves", "part.", "L1 hits", "RD", "CLU", "+TOT", "L2 sectors", "RD", "CLU", "+TOT", "+" + extra,
            "speedup RD", "CLU", "+TOT", "+" + extra, "best", "agents", "CLU's"]
    rows, l2, gain, known, groups = [], [[], [], [], []], [[], [], [], [], []], [], []
    for app in apps:
        got = clu_application(model, app, gpu, l1, prefetch)
        if not got or not all(got[:4]):
            rows.append([app[0], f"{app[1]}, {app[2]}"] + ["-"] * (len(head) - 2))
            continue
        base, rd, clu, tot, more, n = got
        variants = [rd, clu, tot, more]
        for i, v in enumerate(variants):
            l2[i].append(ratio(v, base, "l2_sectors"))
            gain[i].append(speedup(v, base))
        best = max(s for s in [1.0] + [speedup(v, base) for v in variants] if s)
        gain[4].append(best)
        known.append((app[0], got))
        groups.append((app[0], [speedup(v, base) for v in variants]))
        waves = waves_text(model.waves(app[1], name, app[2], base))
        rows.append([app[0], f"{app[1]}, {app[2]}", waves, "X-P" if app[3] == "col" else "Y-P"] +
                    [percent(hits(v)) for v in (base, rd, clu, tot)] + [f"{base['l2_sectors'] / 1e6:.2f} M"] +
                    [change(ratio(v, base, "l2_sectors")) for v in variants] +
                    [times(speedup(v, base)) for v in variants] + [times(best), n, app[4][number]])
    rows.append(["", "geometric mean", "", "", "", "", "", "", ""] + [change(geomean(v)) for v in l2] +
                [times(geomean(v)) for v in gain] + ["", ""])
    if paper:
        rows.append(["", f"the paper, {against}", "", "", "", "", "", "", "", "", "", paper[0], "", "", "", "", "", paper[1], "", ""])
    if all(len(r) < 4 or r[3] == "-" for r in rows[:len(apps)]):
        page.text("Not modelled by the clock yet.")
        return
    page.table(head, rows)
    counters(page, known, name)
    title = f"{name}: speedup over the default launch"
    page.plot(f"clu-{name}-{kind}", plot.bars, title, "times", groups, ["RD", "CLU", "+TOT", "+" + extra], (1, "default"))


def chapter(model, page):
    page.text("## CLU: CTA clustering",
              "Columns as in CLU's figures 12 and 13: the default launch, RD (redirection), CLU (agents, all that fit), +TOT "
              "(the number of active agents that is fastest here), +BPS (`stream=auto`: loads whose sectors are requested "
              "once only bypass L1; as +TOT where there are none) or +PFH (each agent prefetches its next task into L1). *L1 hits* are rates of loads, *L2 sectors* the "
              "32-byte sectors that L2 is asked for, and their change. *best* is the fastest of the row, or the default. "
              "The paper's figures are its averages (5.1, figures 12 and 13); bars of single applications have no numbers "
              "in its text. L1 is 16 KB on Fermi and Kepler, which a program gets unless it asks for more. On Maxwell and "
              "Pascal global loads are cached as compiled with -dlcm=ca. *part.* is the partition that CLU's table 2 gives; *waves*: "
              "CTAs of the largest launch over those that the GPU runs at once. A size is the paper's but for the parameters behind "
              "it; the whole of KMN takes 4 times as long, SGM 8, 3CV 8, NN 7, IMD 3, NBO 16, SYK 60, S2K 500.")
    for number, (gpu, generation, l1, algorithm, cache_line) in enumerate(CLU_GPUS):
        path = model.with_l1_loads(gpu) if generation in ("Maxwell", "Pascal") else gpu
        page.text(f"### {generation} ({gpu})", "Algorithm-related applications:")
        clu_table(model, page, CLU_ALGORITHM, path, number, l1, algorithm, False, "5.1", gpu, "algorithm")
        page.text("Cache-line related applications:")
        clu_table(model, page, CLU_CACHE_LINE, path, number, l1, cache_line, False, "5.1, 5.2 (2)", gpu, "cache-line")
        if number == 0:
            page.text("Data, write and streaming (for which the paper reports \"overall insignificant\" gains, 5.2 (3)):")
            clu_table(model, page, CLU_OTHERS, path, number, l1, None, True, "", gpu, "others")

"""CLU: CTA clustering, figures 2, 3, 12 and 13."""
from . import h100, plot
from .model import (BY_SM, KB, LARGE, REST, SETTINGS, geomean, hits, ipc, mean, n_sms, number_of, ratio, speedup,
                    without_outliers, workloads_of_papers)
from .page import change, mean_text, percent, times, waits, waves_text

# Abbreviation, workload, size, partition (col: X-P, row: Y-P), best numbers of agents on Fermi, Kepler, Maxwell, Pascal:
# CLU table 2. A size is the paper's where nothing stands behind it.
CLU_ALGORITHM = [
    ("KMN", "kmeans-invert", "paper points=123505", "col", (1, 1, 1, 1)),
    ("MM", "matmul-tiled", "paper n=1024", "row", (1, 2, 2, 2)),
    ("NN", "nn", "paper", "row", (8, 16, 32, 32)),
    ("IMD", "image-denoising", "paper", "row", (8, 16, 14, 16)),
    ("BKP", "backprop", "paper", "col", (6, 8, 8, 8)),
    ("DCT", "dct8x8", "paper", "col", (8, 16, 32, 24)),
    ("SGM", "sgemm", "paper", "col", (7, 9, 8, 8)),
    ("HS", "hotspot", "paper", "row", (3, 5, 6, 6)),
]
CLU_CACHE_LINE = [
    ("SYK", "syrk", "paper m=64", "col", (3, 2, 8, 8)),
    ("S2K", "syr2k", "paper n=1024 m=64", "col", (1, 1, 6, 6)),
    ("ATX", "atax", "paper", "col", (1, 1, 1, 1)),
    ("MVT", "mvt", "paper", "col", (1, 1, 1, 1)),
    ("NBO", "nbody", "paper", "row", (2, 4, 5, 2)),
    ("3CV", "conv3d", "paper", "row", (6, 8, 8, 8)),
    ("BC", "bicg", "paper", "col", (1, 1, 1, 8)),
]
CLU_OTHERS = [
    ("HST", "histogram", "paper", "col", (5, 5, 6, 7)),
    ("BTR", "btree", "paper", "col", (5, 8, 8, 8)),
    ("NW", "nw", "paper", "col", (8, 16, 16, 8)),
    ("BFS", "bfs-uniform", "medium", "col", (2, 6, 6, 7)),
    ("MON", "monte-carlo", "paper", "col", (4, 4, 8, 8)),
    ("DXT", "dxtc", "paper", "col", (8, 8, 10, 10)),
    ("SAD", "sad", "paper", "col", (8, 16, 20, 20)),
    ("BS", "black-scholes", "paper", "col", (8, 16, 16, 12)),
]
# A row beside the tables, in none of their means.
CLU_MORE = [("KMN, both kernels", "kmeans-texture", "paper points=123505 side=22", "col", (1, 1, 1, 1))]
# GPU, generation, the setting of the tables, L2 transactions less and speedup in the paper (section 5.1): algorithm-related,
# then cache-line related; other settings, where neither the paper nor a measurement decides. L1 of 48 KB on Kepler is
# table 2's (its CTAs per SM of HS, MON, DXT are what 16 KB of shared memory hold); the paper does not say Fermi's.
L1_48, L1_16 = {"l1": 48 * KB}, {"l1": 16 * KB}
LRR, GTO = {"scheduler": "lrr"}, {"scheduler": "gto"}
CLU_GPUS = [
    ("gtx570", "Fermi", L1_48 | LRR, ("-55%", "1.46x"), ("-81%", "1.47x"), [L1_16 | LRR, L1_48 | GTO, L1_16 | GTO]),
    ("k40", "Kepler", L1_48 | LRR, ("-65%", "1.48x"), ("-71%", "1.29x"),
     [L1_48 | GTO] + [L1_48 | of | {"mshrs": n} for n in (32, 128) for of in (LRR, GTO)]),
    ("gtx980", "Maxwell", LRR | {"ca": True}, ("-29%", "1.45x"), ("-34%", "no gain"), [GTO | {"ca": True}]),
    ("gtx1080", "Pascal", LRR | {"ca": True}, ("-28%", "1.42x"), ("-", "no gain"), [GTO | {"ca": True}]),
]
FERMI_TWICE = [CLU_GPUS[0], CLU_GPUS[0][:2] + (L1_16 | LRR,) + CLU_GPUS[0][3:]]
# NW's 16 CTAs on Kepler do not fit 16 KB of shared memory.
SPLIT = {("k40", "NW"): L1_16}
AGENTS = (1, 2, 4, 8)


def clu_plans(partition):
    order = [] if partition == "row" else ["order=" + partition]
    join = lambda *levers: ",".join(order + list(levers))
    return {"RD": join("bind=redirect"), "CLU": join("bind=agents"),
            "TOT": {n: join(f"bind=agents:{n}") for n in AGENTS}, "join": join}


def path_of(model, gpu, setting, app):
    return model.variant(gpu, **(setting | SPLIT.get((gpu, app[0]), {})))


def clu_application(model, app, gpu, setting, prefetch):
    """Rows for default, RD, CLU, CLU+TOT, CLU+TOT+BPS (or +PFH), and the number of agents."""
    _, workload, size, partition, _ = app
    path = path_of(model, gpu, setting, app)
    p = clu_plans(partition)
    known = model.rows(workload, path, size, ["baseline", p["RD"], p["CLU"]] + list(p["TOT"].values()))
    base, clu = known["baseline"], known[p["CLU"]]
    if not base or not known.whole:
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
    extra_row = model.rows(workload, path, size, [extra])[extra]
    if not extra_row and not prefetch:
        extra_row = known[p["TOT"][n]] if n < resident else clu  # no load to bypass
    return base, known[p["RD"]], clu, known[p["TOT"][n]] if n < resident else clu, extra_row, n


def voted(model, app, path, resident, best):
    """The number of agents that SMs vote for (CLU 4.3), and its speed over the best number's; dashes where there is no vote."""
    _, workload, size, partition, _ = app
    join = clu_plans(partition)["join"]
    vote = model.agents_vote(workload, path, size, join("bind=agents:auto"))
    n = vote.get("winner") if vote else None
    if not n:
        return "-", None
    plan = join("bind=agents" if n >= resident else f"bind=agents:{n}")
    return n, speedup(model.rows(workload, path, size, [plan])[plan], best)


def occupancy(row, gpu):
    """Achieved: warps at once, of those that an SM has room for (CLU figure 12, AC_OCP)."""
    if not row or not row.get("warp_cycles"):
        return None
    cycles = row["time_us"] * number_of(gpu, "clock_mhz") * n_sms(gpu)
    return row["warp_cycles"] / cycles / number_of(gpu, "warps")


def share(row, *kinds):
    """Part of their time that warps wait for these."""
    return sum(row["stall_" + k] for k in kinds) / row["warp_cycles"] if row.get("warp_cycles") else 0


def shortfall(waves, base, best, gain, paper):
    """Why an application gains less than CLU's class does, from its counters; empty where it does not."""
    if gain >= 0.8 * paper:
        return ""
    words = []
    sectors = ratio(best, base, "l2_sectors")
    if waves is not None and waves < 1:
        words.append(f"{waves_text(waves)} waves: nothing to throttle or to order")
    if (hits(base) or 0) > 0.9:
        words.append(f"{percent(hits(base))} of loads hit L1 by default")
    elif sectors is not None and sectors > 0.9:
        words.append(f"L2 sectors {change(sectors)}: L1 keeps little more")
    if share(base, "memory", "throttle") < 0.4:
        words.append(f"waits for memory and queues are {percent(share(base, 'memory', 'throttle'))} of warps' time")
    elif share(best, "throttle") > 0.5:
        words.append(f"L1's queues still take {percent(share(best, 'throttle'))} of warps' time")
    more = ratio(best, base, "warp_cycles")
    if not words and more:
        words.append(f"warps' time changes by {change(more)}: dependences {percent(share(base, 'dependency'))} to "
                     f"{percent(share(best, 'dependency'))}, issue {percent(share(base, 'issue'))} to {percent(share(best, 'issue'))}")
    return "; ".join(words)


def counters(page, name, known, gpu, paper):
    """Why the bars of an application are as long as they are."""
    page.text("Counters behind the bars: time and IPC; achieved occupancy; what warps wait for, in % of their time (m: memory, d: "
              "dependences, b: barriers, t: full queues and pipelines, i: others issue); bytes of DRAM under +TOT; what keeps the "
              "best from 0.8 of the paper's average.")
    rows = []
    number = lambda x: "-" if x is None else f"{x:.0f}" if x >= 10 else f"{x:.1f}"
    for app, waves, (base, rd, clu, tot, more, n), gain in known:
        dram = lambda r: r["dram_read_bytes"] + r["dram_write_bytes"]
        best = min((r for r in (base, rd, clu, tot, more) if r), key=lambda r: r["time_us"])
        best = tot if best is base else best
        rows.append([app[0], f"{base['time_us']:.0f}"] + [number(ipc(r, gpu)) for r in (base, clu, tot)] +
                    [percent(occupancy(r, gpu)) for r in (base, rd, clu, tot)] + [waits(base), waits(clu), waits(tot)] +
                    [change(dram(tot) / dram(base) if dram(base) else None), shortfall(waves, base, best, gain, paper)])
    page.table(name + "-counters", ["application", "us"] + ["IPC" + v for v in ("", ", CLU", ", +TOT")] +
               ["AC_OCP" + v for v in ("", ", RD", ", CLU", ", +TOT")] + ["waits" + v for v in ("", ", CLU", ", +TOT")] +
               ["DRAM, +TOT", "why not more"], rows)


def best_of(got):
    """The speedup of the fastest of an application's bars, or of the default; None: one of the bars is not known."""
    return max([1.0] + [speedup(v, got[0]) for v in got[1:5] if v]) if got and all(got[:4]) else None


def clu_table(model, page, apps, name, number, setting, paper, prefetch, against, kind):
    extra = "PFH" if prefetch else "BPS"
    bars = ["RD", "CLU", "+TOT", "+" + extra]
    head = ["application", "workload, size", "waves", "part."] + ["L1 hits"] + ["L1 hits, " + b for b in bars[:3]] + ["L2 sectors"] + \
        ["L2 sectors, " + b for b in bars] + bars + ["best", "agents", "CLU's agents", "vote (4.3)", "vote over +TOT",
                                                     "agents on an H100: measured", "agents on an H100: clock"]
    rows, l2, gain, known, groups, votes = [], [[], [], [], []], [[], [], [], [], []], [], [], []
    for app in apps:
        got = clu_application(model, app, name, setting, prefetch)
        measured = h100.beside(model, app[1], r"bind=agents(:\d+)?$")
        waves = model.waves(app[1], name, app[2], got[0]) if got else None
        best = best_of(got)
        if not best:
            rows.append([app[0], f"{app[1]}, {app[2]}"] + ["-"] * (len(head) - 4) + list(measured))
            continue
        base, rd, clu, tot, more, n = got
        variants = [rd, clu, tot, more]
        for i, v in enumerate(variants):
            l2[i].append(ratio(v, base, "l2_sectors"))
            gain[i].append(speedup(v, base))
        gain[4].append(best)
        known.append((app, waves, got, best))
        groups.append((app[0], [speedup(v, base) for v in variants]))
        vote, over = voted(model, app, path_of(model, name, setting, app), base["resident"], tot)
        votes.append(over)
        rows.append([app[0], f"{app[1]}, {app[2]}", waves_text(waves), "X-P" if app[3] == "col" else "Y-P"] +
                    [percent(hits(v)) for v in (base, rd, clu, tot)] + [f"{base['l2_sectors'] / 1e6:.2f} M"] +
                    [change(ratio(v, base, "l2_sectors")) for v in variants] +
                    [times(speedup(v, base)) for v in variants] + [times(best), n, app[4][number], vote, times(over)] + list(measured))
    for title, of, last in (("geometric mean", geomean, times(geomean(votes))), ("arithmetic mean", mean, ""),
                            ("arithmetic mean without the largest and the least", lambda v: mean(without_outliers(v)), "")):
        rows.append(["", f"{title} of {len(known)}", "", "", "", "", "", "", ""] + [change(of(v)) for v in l2] +
                    [times(of(v)) for v in gain] + ["", "", "", last, "", ""])
    if paper:
        rows.append(["", f"the paper, {against}", "", "", "", "", "", "", "", "", "", paper[0], "", "", "", "", "", paper[1]] + [""] * 6)
    if not known:
        page.text("Not modelled.")
        return
    page.table(f"clu-{name}-{kind}", head, rows)
    counters(page, f"clu-{name}-{kind}", known, name, float(paper[1][:-1]) if paper and paper[1].endswith("x") else 1)
    title = f"{name}: speedup over the default launch"
    page.plot(f"clu-{name}-{kind}", plot.bars, title, "times", groups, bars, (1, "default"))


def called(setting):
    """A setting in words."""
    words = [f"{setting['l1'] // KB} KB"] if "l1" in setting else []
    words += [setting["scheduler"].upper()]
    return ", ".join(words + ([f"{setting['mshrs']} MSHRs"] if "mshrs" in setting else []))


def settings_table(model, page, gpu, settings, groups):
    """The best bar of each application under settings that nothing decides. groups: (name, its file, applications, the paper's,
    rank of a setting by its number, so that one setting's bars come before the next one's)."""
    for name, file, apps, paper, rank in groups:
        gains = []
        for i, s in enumerate(settings):
            with model.at(REST + i if "mshrs" in s else rank(i)):
                gains.append([best_of(clu_application(model, app, gpu, s, False)) for app in apps])
        if not any(g for of in gains for g in of):
            continue
        page.text(name + ", the best bar of each:")
        rows = [[app[0], f"{app[1]}, {app[2]}"] + [times(of[i]) for of in gains] + [""] for i, app in enumerate(apps)]
        if paper:
            rows += [["", title] + [mean_text(of, g, len(apps)) for g in gains] + [paper]
                     for title, of in (("arithmetic mean", mean), ("geometric mean", geomean),
                                       ("arithmetic mean without the largest and the least", lambda v: mean(without_outliers(v))))]
        page.table(f"clu-{gpu}-{file}", ["application", "workload, size"] + [called(s) for s in settings] + ["the paper"], rows)


def reuse_table(model, page):
    """CLU figure 3: the inter-CTA part of all reuse, before any cache, of all workloads that name a paper."""
    rows = []
    for name, paper in workloads_of_papers().items():
        known = name not in BY_SM and model.reuse(name, "small")
        if known:
            rows.append((name, paper, known["reuse"], known["reuse_words"]))
    if not rows:
        return
    mean = lambda k, part: sum(r[k][part] for r in rows) / len(rows)
    page.text("### The inter-CTA part of reuse (CLU figure 3)",
              f"Of all requests to a 128-byte line, or to a 4-byte word, that was named before: the part whose line or word another "
              f"CTA named last, before any cache (`heddle analyze`, size small). The paper's mean is 45% over 33 applications, whose "
              f"numbers are not in its text; here it is {percent(mean(2, 'inter_cta'))} of lines and {percent(mean(3, 'inter_cta'))} of "
              f"words over the {len(rows)} applications of the five papers. Below: reuse of lines within a warp, within a CTA, and "
              "between CTAs, and of words between CTAs; [categories.md](../../../docs/categories.md) has CLU's 23 at the papers' sizes.")
    page.plot("clu-reuse", plot.bars, "inter-CTA part of reuse (CLU figure 3)", "%",
              [(r[0], [100 * r[2]["inter_cta"], 100 * r[3]["inter_cta"]]) for r in rows], ["lines", "words"], (45, "CLU's mean"))
    page.table("clu-reuse", ["workload", "paper", "lines: in a warp", "lines: in a CTA", "lines: between CTAs", "words: between CTAs"],
               [[r[0], r[1]] + [percent(r[2][k]) for k in ("intra_warp", "intra_cta", "inter_cta")] + [percent(r[3]["inter_cta"])]
                for r in rows])


# GPU, SMs, CTAs that an SM has room for, turns of them: CLU 3.1 and table 1.
LOCALITY = [("gtx570", 15, 8, 4), ("k40", 15, 16, 4), ("gtx980", 16, 32, 2), ("gtx1080", 20, 32, 2)]
DELAY = 100  # additions that one turn's CTAs wait for each other: some 1800 cycles; 1200 are "long enough" (3.1)


def locality(model, page):
    """CLU figure 2: cycles that a read of a line takes which others of its SM read before."""
    rows = []
    for gpu, sms, slots, turns in LOCALITY:
        path = model.variant(gpu, ca=gpu in ("gtx980", "gtx1080"))

        def run(n, delay):
            grid = n * sms
            return model.launch(f"{grid}-{delay}", "locality.cu", "locality", grid, 32,
                                ["f32[32]=uniform(0, 1)", f"f32[{grid}]=zero", f"u32:{delay}", f"u32:{sms}"], path).get("baseline")
        alone, first, all_, apart = run(1, 0), run(slots, 0), run(slots * turns, 0), run(slots, DELAY)
        if not all((alone, first, all_, apart)):
            continue
        stall = lambda r: r["stall_memory"]
        rows.append([gpu, sms * slots * turns, turns, f"{all_['l1_sectors']:.0f}", percent(hits(all_)), f"{all_['l2_sectors']:.0f}",
                     f"{stall(first) / (sms * slots):.0f}", f"{(stall(all_) - stall(first)) / (sms * slots * (turns - 1)):.0f}",
                     f"{stall(alone) / sms:.0f}", f"{(stall(apart) - stall(alone)) / (sms * (slots - 1)):.0f}"])
    if not rows:
        return
    page.text("### Reuse among CTAs in L1 (CLU figure 2)",
              "Listing 3 on the models: one thread of each CTA reads a line that all CTAs of its SM read; cycles that it waits, on "
              "average. (A), all CTAs of a turn at once: those of the first turn wait for DRAM or for the line that another fetches, "
              "those of later turns for L1. (B), one after the other: only an SM's first CTA waits for DRAM. The paper says the same of "
              "all four GPUs, and of Pascal about 750 cycles for the first turn and 132 for later ones, with two barriers and the "
              "clock's reading; its other figures are not in its text. A miss of Fermi's and Kepler's 128-byte lines is four L2 "
              "sectors; on Maxwell and Pascal the paper counts two for an SM, whose L1 serves its CTAs in two parts (3.1), which "
              "the models lack: here it is one.")
    page.table("clu-figure-2", ["GPU", "CTAs", "turns", "L1 reads", "L1 hits", "L2 sectors", "(A) first turn", "(A) later turns", "(B) first CTA",
                                "(B) the others"], rows)


def chapter(model, page):
    page.text("## CLU: CTA clustering",
              "Columns as in CLU's figures 12 and 13: the default launch, RD (redirection), CLU (agents, all that fit), +TOT "
              "(the number of active agents that is fastest here), +BPS (`stream=auto`: loads whose sectors are requested "
              "once only bypass L1; as +TOT where there are none) or +PFH (each agent prefetches its next task into L1). *L1 hits* "
              "are rates of loads, *L2 sectors* the 32-byte sectors that L2 is asked for, and their change. *best* is the fastest "
              "of the row, or the default. The paper's figures are its averages (5.1, figures 12 and 13); bars of single "
              "applications have no numbers in its text. L1 is 48 KB on Kepler, for CLU's table 2 has CTAs per SM that are what 16 KB of "
              "shared memory hold (HS, MON, DXT); NW alone has more, and 16 KB of L1. On Fermi the table shows neither 16 nor 48 KB. "
              "Neither the warp schedulers of these GPUs nor Kepler's MSHRs are published: LRR and GTO, and 32, 64 and 128 MSHRs, stand "
              "beside each other below each generation's tables. On Maxwell and Pascal global loads are cached as compiled with "
              "-dlcm=ca. KMN is its layout kernel, whose grid is the one that an X-P partition cuts. *part.* is the partition that CLU's "
              "table 2 gives; *waves*: CTAs of the largest launch over those that the GPU runs at once. *vote*: the number of agents "
              "whose SMs do the most tasks of the largest launch when SMs differ in it (`bind=agents:auto`), and the speed of all "
              "launches with it over those with +TOT's; a dash: fewer SMs than numbers, under 8 waves, or room for one CTA alone. A size is "
              "the paper's but for the parameters behind it and BFS's: a tenth of the nodes of Rodinia's graph1MW_6, in Rodinia's "
              "CTAs of 16 warps, where table 2 has 8; the whole of SYK takes 16 times as long, S2K 130, BFS 10. *agents on an H100*: "
              "the fastest of `bind=agents` and 1, 2 and 4 agents there, beside the clock's prediction of the same plan "
              "([below](#on-an-h100)).")
    for number, (gpu, generation, setting, algorithm, cache_line, others) in enumerate(CLU_GPUS):
        page.text(f"### {generation} ({gpu}): {called(setting)}", "Algorithm-related applications:")
        clu_table(model, page, CLU_ALGORITHM, gpu, number, setting, algorithm, False, "5.1", "algorithm")
        page.text("Cache-line related applications:")
        clu_table(model, page, CLU_CACHE_LINE, gpu, number, setting, cache_line, False, "5.1, 5.2 (2)", "cache-line")
        page.text("Data, write and streaming (for which the paper reports \"overall insignificant\" gains, 5.2 (3)):")
        clu_table(model, page, CLU_OTHERS, gpu, number, setting, None, True, "", "others")
        settings_table(model, page, gpu, [setting] + others,
                       [("Algorithm-related under other settings", "algorithm-settings", CLU_ALGORITHM, algorithm[1], lambda i: SETTINGS + 10 * number + i),
                        ("Cache-line related under other settings", "cache-line-settings", CLU_CACHE_LINE, cache_line[1],
                         lambda i: SETTINGS + 50 if generation == "Fermi" and i < 2 else REST + 10 * number + i)])
        settings_table(model, page, gpu, [setting],
                       [("All of k-means, in none of the means", "more", CLU_MORE, "", lambda _: LARGE + number)])
    locality(model, page)
    reuse_table(model, page)

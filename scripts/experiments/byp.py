"""BYP: bypassing by warps."""
import math

from . import h100, plot
from .model import CAUSES, FIGURES, KB, PLATFORMS, REST, geomean, hits, ipc, mean, ratio, speedup, without_outliers
from .page import Page, change, mean_text, percent, times, waits, waves_text

# Abbreviation, workload, size, warps of a CTA, which are the paper's (table 3) but for STE: 4 there.
BYP_APPS = [
    ("BFS", "bfs-uniform", "medium", 16), ("BKP", "backprop", "paper", 8), ("BTE", "btree", "paper", 8),
    ("KMN", "kmeans-texture", "paper points=123505 side=22", 8), ("STE", "stencil3d", "paper pairs=1", 4),
    ("PTF", "particlefilter", "paper frames=2", 16), ("SPV", "spmv-jds", "paper", 6),
    ("STC", "streamcluster", "paper candidates=1", 16), ("SRD", "srad", "paper steps=2", 16),
    ("BIC", "bicg", "paper", 8), ("ATX", "atax", "paper", 8), ("GES", "gesummv", "paper", 8),
    ("MVT", "mvt", "paper", 8), ("SYR", "syrk", "paper n=512 m=64", 8), ("SYK", "syr2k", "paper n=512 m=64", 8),
    ("SSC", "similarityscore", "paper", 16),
]
THRESHOLDS = tuple(range(1, 16))
# GPU, generation, figure, cache, L1, and in the paper: cha over bpa, best over bpa, best over cha (section 5). Figures
# of platforms 4 to 7 are in figure 22, which has no numbers in the text but those of 5.1.
BYP_GPUS = [
    ("gtx570", "Fermi", "12", "l1", 16 * KB, ("0.89x", "1.24x", "1.39x")),
    ("gtx570", "Fermi", "13", "l1", 48 * KB, ("1.17x", "1.45x", "1.24x")),
    ("gtx570", "Fermi", "14", "l2", 16 * KB, ("-", "1.12x", "1.20x")),
    ("k80", "Kepler", "15", "l1", 16 * KB, ("0.76x", "1.08x", "1.42x")),
    ("k80", "Kepler", "16", "l1", 32 * KB, ("0.80x", "1.09x", "1.36x")),
    ("k80", "Kepler", "17", "l1", 48 * KB, ("0.90x", "1.16x", "1.29x")),
    ("k80", "Kepler", "18", "ro", 16 * KB, ("2.03x", "2.16x", "-")),
    ("k80", "Kepler", "19", "l2", 16 * KB, ("-", "as Fermi", "as Fermi")),
    ("gtx750ti", "Maxwell", "20", "ro", None, ("1.09x", "1.15x", "-")),
    ("gtx750ti", "Maxwell", "21", "l2", None, ("-", "1.00x", "1.00x")),
    ("gtx460", "Fermi", "22", "l1", 16 * KB, ("0.85x", "-", "-")),
    ("gtx690", "Kepler", "22", "l1", 16 * KB, ("1.00x", "1.00x", "1.00x")),
    ("k40", "Kepler", "22", "ro", 16 * KB, ("above 1", "above 1", "-")),
    ("gtx980", "Maxwell", "22", "ro", None, ("above 1", "above 1", "-")),
]


def byp_curve(model, workload, size, gpu, cache, l1, thresholds, setting=None):
    """(threshold, row) from bypass-all (0) to cache-all (None), all without a row until all are known. Loads do not use the read-only cache unless all or some
    warps are to."""
    around = (lambda k: f"bypass=l1:{k}+l2:{k}") if cache == "l1+l2" else (lambda k: f"bypass={cache}:{k}")
    all_, none = ("baseline", around(0)) if cache != "ro" else ("bypass=ro:32", "bypass=l1:0")
    plans = [none] + [around(k) for k in thresholds] + [all_]
    known = model.rows(workload, model.variant(gpu, l1, **(setting or {})), size, plans)
    return list(zip([0] + list(thresholds) + [None], [known[p] if known.whole else None for p in plans]))


def byp_case(model, page, size, what):
    curves = {l1: byp_curve(model, "bfs-uniform", size, "gtx570", "l1", l1 * KB, THRESHOLDS) for l1 in (16, 48)}
    rows, best = [], {}
    if not all(r for c in curves.values() for _, r in c):
        page.text(f"bfs-uniform, size {size} ({what}): not modelled.")
        return
    for l1, c in curves.items():
        best[l1] = min(c, key=lambda x: x[1]["time_us"])[0]
    for i, (k, _) in enumerate(curves[16]):
        cells = ["cha" if k is None else "bpa" if k == 0 else k]
        for l1 in (16, 48):
            r = curves[l1][i][1]
            cells += [f"{r['time_us']:.0f}", f"{ipc(r, 'gtx570'):.0f}", percent(hits(r)), f"{r['l2_sectors'] / 1e6:.2f}",
                      f"{r['dram_read_bytes'] / 1e6:.0f}"]
        rows.append(cells)
    page.text(f"bfs-uniform, size {size}: {what}.")
    page.table(f"byp-bfs-{size}", ["threshold"] + [f"{l1} KB: {what}" for l1 in (16, 48) for what in
                                                   ("us", "IPC", "L1 hits", "L2 sectors, millions", "DRAM read, MB")], rows)

    def over(l1, a, b):
        known = dict(curves[l1])
        return times(speedup(known[a], known[b]))
    page.table(f"byp-bfs-{size}-best", ["", "the paper", "16 KB", "48 KB"], [
        ["best threshold", "3 on 16 KB (figure 5), 9 on 48 KB (figure 8)", best[16], best[48]],
        ["best over bpa", "above 1 (figures 5, 8)", over(16, best[16], 0), over(48, best[48], 0)],
        ["cha over bpa", "16 KB: \"much worse than no caching at all\"; 48 KB: \"similar\"", over(16, None, 0),
         over(48, None, 0)],
        ["best over cha", "above 1 (figures 5, 8)", over(16, best[16], None), over(48, best[48], None)]])


CASE = [("5", "l1", 16), ("6", "l2", 16), ("7", "l1+l2", 16), ("8", "l1", 48), ("9", "l2", 48), ("10", "l1+l2", 48)]


def byp_figures(model, page, size):
    """Figures 5 to 10: the same around L2, and around both."""
    curves = [byp_curve(model, "bfs-uniform", size, "gtx570", cache, l1 * KB, THRESHOLDS) for _, cache, l1 in CASE]
    if not any(r for c in curves for _, r in c):
        return
    names = [f"figure {n}: {cache.upper()}, {l1} KB" for n, cache, l1 in CASE]
    time = lambda r: r["time_us"] if r else None
    rows = [["bpa" if k == 0 else "cha" if k is None else k] + [f"{time(c[i][1]):.0f}" if c[i][1] else "-" for c in curves]
            for i, (k, _) in enumerate(curves[0])]
    best = [min((time(r), i) for i, (_, r) in enumerate(c) if r)[1] if all(r for _, r in c) else None for c in curves]
    rows.append(["best"] + ["-" if b is None else rows[b][0] for b in best])
    page.text(f"Times in us around L1, around L2 (`bypass=l2:K`: loads from warp K on leave L1 and L2 first), and around both "
              f"(`bypass=l1:K+l2:K`), bfs-uniform, size {size}. The paper: L2's *cha* beats its *bpa*, the best of all is always one "
              "of L1's, and both together are worse than either.")
    page.table("byp-bfs-figures", ["threshold"] + names, rows)
    page.plot("byp-bfs", plot.lines, f"bfs, {size}, gtx570 (BYP figures 5 to 10)", "us against the threshold", [r[0] for r in rows[:-1]],
              [(f"{cache.upper()} {l1}K", [time(r) for _, r in c]) for (_, cache, l1), c in zip(CASE, curves)])


# 5.2 names one application of each of three classes.
CLASSES = {"BFS": "congested", "STE": "insensitive", "SYR": "irregular"}


def kind_of(curve):
    """The five classes of BYP 5.2, by the curve's shape; times within 5% are one."""
    t = [r["time_us"] for _, r in curve if r]
    turns = [b - a for a, b in zip(t, t[1:]) if abs(b - a) > 0.03 * a]
    changes = sum((a > 0) != (b > 0) for a, b in zip(turns, turns[1:]))
    if max(t) < 1.05 * min(t):
        return "insensitive"
    if changes > 1:
        return "irregular"
    if t[0] <= 1.02 * min(t):
        return "bypass-favorite"
    return "cache-favorite" if t[-1] <= 1.02 * min(t) else "congested"


def pullers(rows, ours, paper):
    """The three applications that pull a mean from the paper's the most, where that is off by more than 20%. rows: of
    (application, gain, L2 sectors, class)."""
    if paper[:1] not in "0123456789" or not ours or abs(math.log(ours / float(paper[:-1]))) < math.log(1.2):
        return ""
    up = ours > float(paper[:-1])
    far = sorted((r for r in rows if r[1]), key=lambda r: r[1], reverse=up)[:3]
    return ", ".join(f"{name} {times(gain)} (L2 sectors {change(l2)}, {kind})" for name, gain, l2, kind in far)


def chosen(curve, found):
    """The threshold that one of 4.4.2's ways found, and its point of the curve; "-" where there is none."""
    if not found or "winner" not in found:
        return "-", None
    k, warps = found["winner"], len(found["shares"]) - 1
    return ("bpa" if k == 0 else "cha" if k == warps else k), dict(curve).get(None if k == warps else k)


def byp_table(model, page, gpu, generation, figure, cache, l1, paper):
    """The figure's table; its line of the summary."""
    rows, cha_bpa, opt_bpa, opt_cha, register, twice, vote, sample, groups, why = [], [], [], [], [], [], [], [], [], []
    with_register, with_vote, on_h100 = figure == "12", figure in ("12", "13"), {"12": "bypass=l1:0$", "18": "bypass=ro:0$"}
    for abbreviation, workload, size, warps in BYP_APPS:
        c = byp_curve(model, workload, size, gpu, cache, l1, [k for k in THRESHOLDS if k < warps])
        known = [(k, r) for k, r in c if r]
        bpa, cha = c[0][1], c[-1][1]
        found = model.thresholds(workload, gpu, size, l1) if with_vote else {}
        waves = model.waves(workload, gpu, size, cha)
        measured = h100.beside(model, workload, on_h100[figure]) if figure in on_h100 else ()
        if not bpa or not cha:
            continue
        k, opt = min(known, key=lambda x: x[1]["time_us"])
        for values, x in ((cha_bpa, speedup(cha, bpa)), (opt_bpa, speedup(opt, bpa)), (opt_cha, speedup(opt, cha))):
            values.append(x)
        why.append((abbreviation, cha_bpa[-1], ratio(cha, bpa, "l2_sectors"), kind_of(c)))
        groups.append((abbreviation, [1, cha_bpa[-1], opt_bpa[-1]]))
        cells = [abbreviation, f"{workload}, {size}", waves_text(waves)] + [f"{ipc(r, gpu):.0f}" for r in (bpa, cha, opt)] + \
            [percent(hits(cha)), change(ratio(cha, bpa, "l2_sectors")), change(ratio(opt, bpa, "l2_sectors")),
             change(ratio(opt, cha, "thread_instructions")), waits(bpa), waits(cha), waits(opt), times(cha_bpa[-1]), times(opt_bpa[-1]),
             times(opt_cha[-1]), "bpa" if k == 0 else "cha" if k is None else k,
             kind_of(c) + (f" (the paper: {CLASSES[abbreviation]})" if CLASSES.get(abbreviation, kind_of(c)) != kind_of(c) else "")]
        if with_vote:
            for values, way in ((vote, "vote"), (sample, "sampled")):
                name, row = chosen(c, found.get(way))
                values.append(speedup(row, opt))
                cells += [name, times(values[-1])]
        if with_register:
            plan = f"bypass={cache}:{k}" if k else None
            row = model.rows(workload, model.variant(gpu, l1), size, [plan], options=("--bypass-register",))[plan] if plan else opt
            register.append(speedup(row, opt))
            forms = [f"bypass={cache}:{k},form={form}" for form in ("predicate", "replicate")] if k else []
            coded = model.rows(workload, model.variant(gpu, l1), size, forms) if forms else {}
            twice.append(speedup(*[coded[f] for f in reversed(forms)]) if forms else None)
            cells += [times(register[-1]), times(twice[-1])]
        rows.append(cells + list(measured))
    what = {"l1": "L1", "l2": "L2", "ro": "the read-only cache"}[cache]
    title = f"{generation} ({gpu}), figure {figure}: around {what}" + (f", {l1 // KB} KB of L1" if l1 else "")
    means = [geomean(v) for v in (cha_bpa, opt_bpa, opt_cha)]
    summary = [f"{generation} ({gpu})", figure, what + (f", {l1 // KB} KB of L1" if l1 else ""), f"{len(rows)} of 16"] + \
        [x for ours, theirs in zip(means, paper) for x in (times(ours), theirs)] + [pullers(why, means[0], paper[0])]
    if not rows:
        return summary
    tail = ["", ""] + (["", times(geomean(vote)), "", times(geomean(sample))] if with_vote else []) + ([times(geomean(register)), times(geomean(twice))] if with_register else [])
    for name, of in (("arithmetic mean", mean), ("arithmetic mean without the largest and the least", lambda v: mean(without_outliers(v)))):
        tables = [times(of(v)) for v in (cha_bpa, opt_bpa, opt_cha)]
        rows.append(["", f"{name} of {len(why)}"] + [""] * 11 + tables + [""] * (len(tail) + (2 if figure in on_h100 else 0)))
    rows.append(["", f"geometric mean of {len(why)}"] + [""] * 11 + [times(m) for m in means] + tail + [""] * (2 if figure in on_h100 else 0))
    rows.append(["", "the paper, 5"] + [""] * 11 + list(paper) + ["", ""] + ([""] * 4 if with_vote else []) +
                (["1.02x (6.2)", ""] if with_register else []) + [""] * (2 if figure in on_h100 else 0))
    page.text(title + ":")
    page.table(f"byp-{figure}-{gpu}-{cache}",
               ["BYP", "workload, size", "waves", "IPC, bpa", "IPC, cha", "IPC, opt", "hits, cha", "L2 sectors, cha to bpa",
                "L2 sectors, opt to bpa", "instructions, opt to cha", "waits, bpa", "waits, cha", "waits, opt", "cha over bpa", "opt over bpa",
                "opt over cha", "threshold", "class (5.2)"] +
               (["vote (4.4.2)", "vote over opt", "sample (figure 11)", "sample over opt"] if with_vote else []) +
               (["register (6.2) over opt", "replicated (6.1) over predicates"] if with_register else []) +
               ([f"{on_h100[figure][:-1]} on an H100: {what}" for what in ("measured", "clock")] if figure in on_h100 else []), rows)
    page.plot(f"byp-{figure}-{gpu}-{cache}", plot.bars, title, "speed over bpa", groups, ["bpa", "cha", "best"], (1, "bpa"))
    return summary


# SYR and SYK at the length of PolyBench's rows (SYK's is 2048), with fewer rows, and a few thresholds.
WHOLE_ROWS = [("SYR", "syrk", "paper n=96 m=1024"), ("SYK", "syr2k", "paper n=96 m=1024")]


def byp_whole_rows(model, page):
    """SYR and SYK around L1 with whole rows, and the means with them in place of the short ones."""
    rows, means = [], []
    for i, (gpu, generation, figure, cache, l1, paper) in enumerate(BYP_GPUS):
        if cache != "l1" or figure in ("16", "22"):
            continue
        at = {}
        for name, workload, size in WHOLE_ROWS:
            with model.at(CAUSES + 10 + i):
                c = byp_curve(model, workload, size, gpu, cache, l1, (2, 4))
            if not all(r for _, r in c):
                continue
            bpa, cha = c[0][1], c[-1][1]
            k, opt = min(c, key=lambda x: x[1]["time_us"])
            at[name] = speedup(cha, bpa), speedup(opt, bpa), speedup(opt, cha)
            rows.append([f"{generation} ({gpu})", figure, f"{l1 // KB} KB", name, f"{workload}, {size}", percent(hits(cha)),
                         change(ratio(cha, bpa, "l2_sectors"))] + [times(x) for x in at[name]] +
                        ["bpa" if k == 0 else "cha" if k is None else k])
        short = {}
        for name, workload, size, warps in BYP_APPS:
            c = byp_curve(model, workload, size, gpu, cache, l1, [k for k in THRESHOLDS if k < warps])
            bpa, cha = c[0][1], c[-1][1]
            if bpa and cha:
                opt = min((r for _, r in c), key=lambda r: r["time_us"])
                short[name] = speedup(cha, bpa), speedup(opt, bpa), speedup(opt, cha)
        if len(at) < len(WHOLE_ROWS) or not short:
            continue
        for what, k in (("cha over bpa", 0), ("best over bpa", 1), ("best over cha", 2)):
            means.append([f"{generation} ({gpu})", figure, f"{l1 // KB} KB", what, f"of {len(short)}",
                          times(geomean([v[k] for v in short.values()])),
                          times(geomean([at.get(name, v)[k] for name, v in short.items()])), paper[k]])
    if not rows:
        return
    page.text("### SYR and SYK with whole rows",
              "The tables above cut the rows of SYR's and SYK's matrices to 64 numbers. Here they have 1024, as PolyBench's SYR (SYK: 2048), and "
              "there are fewer of them; *best* is the fastest of bpa, cha and thresholds 2 and 4. Below, the geometric means with "
              "these two in place of the short ones.")
    page.table("byp-whole-rows", ["platform", "figure", "L1", "BYP", "workload, size", "hits, cha", "L2 sectors, cha to bpa", "cha over bpa",
                                  "best over bpa", "best over cha", "threshold"], rows)
    page.table("byp-whole-rows-means", ["platform", "figure", "L1", "geometric mean", "applications", "short rows", "whole rows", "the paper"],
               means)


# What neither the paper nor a measurement decides, beside what the GPUs' files say: MSHRs of an SM's loads, its warp scheduler.
SETTINGS = [{}, {"mshrs": 32}, {"mshrs": 128}, {"scheduler": "lrr"}]


def byp_settings(model, page):
    """cha over bpa, and the best of a few thresholds over cha, around L1 under other settings."""
    name = lambda s: ", ".join(f"{v} MSHRs" if k == "mshrs" else str(v).upper() for k, v in s.items()) or "as in the tables"
    rows = []
    for gpu, generation, figure, cache, l1, paper in BYP_GPUS:
        if cache != "l1" or paper[2] == "-":
            continue
        cells = []
        for i, setting in enumerate(SETTINGS):
            gains = [[], []]
            for _, workload, size, warps in BYP_APPS:
                with model.at(REST + 30 + 10 * len(rows) + i):
                    c = byp_curve(model, workload, size, gpu, cache, l1, [k for k in (2, 4, 9) if k < warps], setting)
                bpa, cha = c[0][1], c[-1][1]
                if bpa and cha:
                    gains[0].append(speedup(cha, bpa))
                    gains[1].append(max(speedup(r, cha) for _, r in c if r))
            cells += [mean_text(of, v, len(BYP_APPS)) for v in gains for of in (mean, geomean)]
        rows.append([f"{generation} ({gpu})", figure, f"{l1 // KB} KB"] + cells + [paper[0], paper[2]])
    page.text("### Around L1 under other settings",
              "Arithmetic and geometric means of *cha over bpa*, and of the best of bpa, cha and thresholds 2, 4 and 9 over cha: "
              "with fewer and with more MSHRs, and with a loose round robin of warps. Of 32, 64 and 128 MSHRs, 64 have the best "
              "thresholds of bfs on gtx570 (4.3 above); Kepler's are not published.")
    page.table("byp-settings", ["platform", "figure", "L1"] + [f"{name(s)}: {what}" for s in SETTINGS
                                               for what in ("cha over bpa", "cha over bpa, geometric", "best over cha", "best over cha, geometric")] +
               ["the paper: cha over bpa", "the paper: best over cha"], rows)


def chapter(model, page):
    tables, summary = Page(page.folder), []
    for i, row in enumerate(BYP_GPUS):
        # Around L2 little changes, in the paper and here: behind the others.
        with model.at(PLATFORMS + i if row[2] == "22" else FIGURES + 1 + i + len(BYP_GPUS) * (row[3] == "l2")):
            summary.append(byp_table(model, tables, *row))
    page.text("## BYP: bypassing by warps",
              "### bfs, the case study (BYP 4.3)",
              "Predicted time, L1 hits and L2 sectors against the threshold: warps of a CTA from it on bypass L1; 0 is *bpa* "
              "(all bypass), the last row *cha* (all cached, the default). On gtx570 (platform 1), 16 warps a CTA.")
    with model.at(FIGURES):
        for size, what in (("medium", "100000 nodes"), ("paper", "1000000 nodes, 6 edges each, as the paper's graph1MW_6")):
            byp_case(model, page, size, what)
        byp_figures(model, page, "medium")
    page.text("### All platforms (BYP figure 22)",
              "Geometric means over the applications that were modelled on each. *opt*: the best threshold, or bpa or cha where that is "
              "faster. *far from the paper by*: where *cha over bpa* is off by more than 20%, the three applications that pull it "
              "the most, with what *cha* does to their L2 sectors and their class. " + h100.sentence(model, r"bypass="))
    page.table("byp-platforms", ["platform", "figure", "around", "applications"] +
               [x for what in ("cha over bpa", "opt over bpa", "opt over cha") for x in (what, what + ": the paper")] +
               ["far from the paper by"], summary)
    page.text("### All applications (BYP figures 12 to 21)",
              "*bpa*, *cha* and the best threshold between 1 and the CTA's warps - 1, or bpa or cha where that is faster "
              "(*opt*), in predicted time and IPC (the added instructions count). *cha* of the read-only cache: loads of what nothing "
              "writes use it. *waits*: what warps wait for, as in CLU's counters. *instructions*: what the code of the threshold "
              "adds. *vote*: the threshold whose SMs run the most CTAs of one launch in which SMs differ in it; a dash: fewer SMs than "
              "thresholds, or under 8 waves. *sample*: the one whose CTA is fastest, each alone on the GPU; a dash: fewer CTAs than "
              "thresholds. *register*: the threshold "
              "in a register of the caches (`--bypass-register`), over the same one in the code. *replicated*: the kernel's code twice, one "
              "branch a warp (`form=replicate`), over each load twice under predicates (`form=predicate`), both at opt's "
              "threshold; the paper has it as future work. Sizes are the paper's (table 3) but for the parameters behind them and "
              "BFS's; whole, BFS takes 9 times as long, KMN 4, STE 50, PTF 5, STC 10, SRD 50, SYR 64, SYK 500.")
    page.add(tables)
    byp_whole_rows(model, page)
    byp_settings(model, page)

"""SCH: schedules of threads."""
import re

from . import plot
from .model import PLATFORMS, hits, ipc, speedup
from .page import percent, reason, times, waves_text

# The paper's name, workload, parameters for CTAs of so many threads, its text, thread schedules that are always tried.
def cta_of(rows):
    return lambda t: f"x={t // max(1, t // rows)} y={max(1, t // rows)}"


SCH_APPS = [
    ("integral image (row-wise)", "integral-row", cta_of(512), "1.20x, \"for example by using a 8 by 16 tiled schedule\"",
     ["threads=tile:8x16", "threads=tile:16x8", "threads=tile:32x8", "threads=zigzag:32x1"]),
    ("integral image (column-wise)", "integral-col-major", cta_of(512), "IPC 7 to some 600 (80x), by a stride of the image's width",
     ["threads=stride:512x1", "threads=stride:256x1", "threads=tile:8x16", "threads=hilbert"]),
    ("11 by 11 convolution", "conv11", cta_of(512), "up to 1.10x, by zigzag",
     ["threads=zigzag:32x1", "threads=zigzag:512x1", "threads=tile:32x2", "threads=hilbert"]),
    ("matrix multiplication", "matmul-naive", cta_of(512), "1.87x (IPC 245 to 457); L1 misses 50% to 16%, by 32x2 tiles",
     ["threads=tile:32x2", "threads=tile:32x4", "threads=tile:32x8", "threads=stride:256x32", "threads=stride:8x32"]),
    ("matrix copy (per row)", "copy-row", lambda t: f"x={t}", "IPC 5 to 34 (7x), by 64 to 256 active threads",
     ["threads=stride:16x1", "threads=zigzag:32x1"]),
    ("matrix copy (per column)", "copy-col", lambda t: f"x={t}", "1.12x; the best schedules miss always",
     ["threads=stride:2x32", "threads=stride:8x32", "threads=zigzag:32x1"]),
]
# Also tried, without numbers to compare with.
SCH_OTHERS = [
    ("8 by 8 DCT", "dct-naive", "paper", "3.2x (IPC 175 to 570), by a stride of 512 at granularity 8",
     ["threads=stride:512x8", "threads=tile:8x8", "threads=tile:8x16"]),
    ("symmetric rank-k", "syrk", "paper n=512 m=64", "3x", ["threads=tile:8x8", "threads=col", "threads=tile:16x16"]),
    ("matrix-vector summation", "matvec-sum", "small", "no significant change", ["threads=stride:4x1", "threads=zigzag:32"]),
    ("breadth-first search", "bfs", "small", "no significant change", ["threads=stride:4x1", "threads=zigzag:32"]),
    ("SRAD", "srad", "small", "no significant change", ["threads=zigzag:32"]),
]
GPU = "gtx580"
ACTIVE = (64, 128, 256, 512, 1024)
SCH_DEFAULT = 512  # threads of a CTA: "512 or 1024 active threads (including the default)"
ROWS = (256, 1024)  # lengths of rows that tiles are tried in, beside those of the launch
IN_ROWS = re.compile(r"threads=tile:\d+x\d+x\d+")


def sch_schedules():
    """217 thread schedules: the paper lists neither its parameters nor their numbers, but small powers of two."""
    powers = lambda low, high: [1 << k for k in range(low, high + 1)]
    all_ = ["baseline", "threads=hilbert"]
    all_ += [f"threads=stride:{a}x{b}" for a in powers(1, 9) for b in powers(0, 7)]
    all_ += [f"threads=zigzag:{a}x{b}" for a in powers(1, 9) for b in powers(0, 7)]
    return all_ + [f"threads=tile:{a}x{b}" for a, b in TILES]


TILES = [(1 << a, 1 << b) for a in range(1, 9) for b in range(1, 10)][:-1]


def with_chunks(plan):
    """The second block scheduler: subsequent CTAs on one core."""
    return "bind=redirect" if plan == "baseline" else plan + ",bind=redirect"


def sch_label(workload, cta, threads):
    return "-".join([workload, f"paper {cta(threads)}".replace(" ", "_"), GPU])


def whole(model):
    """2170 schedules of each application."""
    schedules = sch_schedules()
    for _, workload, cta, _, _ in SCH_APPS:
        for t in ACTIVE:
            # Side by side, the two block schedulers share what a schedule of threads accesses.
            model.rows(workload, GPU, f"paper {cta(t)}", [x for p in schedules for x in (p, with_chunks(p))])
        in_rows(model, workload, cta)


def bank_efficiency(row):
    """The part of DRAM's rate that is used while any of its channels is busy (SCH 6.2)."""
    return row["dram_useful"] / row["dram_busy"] if row and row.get("dram_busy") else None


def correlation(pairs):
    """Pearson's, of at least 20."""
    if len(pairs) < 20:
        return None
    n = len(pairs)
    mean = [sum(p[k] for p in pairs) / n for k in (0, 1)]
    cov = sum((a - mean[0]) * (b - mean[1]) for a, b in pairs)
    var = [sum((p[k] - mean[k]) ** 2 for p in pairs) for k in (0, 1)]
    return cov / (var[0] * var[1]) ** 0.5 if var[0] > 0 and var[1] > 0 else None


def known_of(model, workload, cta):
    """All that was tried but for tiles in rows of other lengths: [(row, threads of a CTA, schedule)]."""
    return [(row, t, plan) for t in ACTIVE for plan, row in model.kept(sch_label(workload, cta, t)).items()
            if row and not IN_ROWS.match(plan)]


def fastest(found):
    return min(found, key=lambda f: (round(f[0]["time_us"], 1), f[1], f[2]), default=None)


def in_rows(model, workload, cta):
    """The tiles in rows of ROWS, with the number of active threads that the best tile has: that tile, and {length: [(row,
    threads, schedule)]}; nothing until all tiles are known."""
    tiles = [f for f in known_of(model, workload, cta) if f[2] in {f"threads=tile:{a}x{b}" for a, b in TILES}]
    if len(tiles) < len(TILES) * len(ACTIVE):
        return None, {}
    best = fastest(tiles)
    t = best[1]
    plans = {n: [f"threads=tile:{a}x{b}x{n}" for a, b in TILES] for n in ROWS}
    known = model.rows(workload, GPU, f"paper {cta(t)}", [p for of in plans.values() for p in of])
    return best, {n: [(known[p], t, p) for p in of if known[p]] for n, of in plans.items()}


def sch_row(model, name, workload, cta, said, tried, why):
    default = f"paper {cta(SCH_DEFAULT)}"
    base = model.rows(workload, GPU, default, ["baseline"])["baseline"]
    for t in ACTIVE:
        plans = ["baseline"] + (tried + [with_chunks(p) for p in tried] if t == SCH_DEFAULT else [])
        model.rows(workload, GPU, f"paper {cta(t)}", plans)
    found = known_of(model, workload, cta)
    if not base or not found:
        return [name, workload] + ["-"] * 12 + [said]
    best, t, plan = fastest(found)
    miss = lambda r: "-" if hits(r) is None else percent(1 - hits(r))
    number = lambda x: "-" if x is None else f"{x:.0f}" if x >= 10 else f"{x:.1f}"
    banks = lambda r: percent(bank_efficiency(r))
    with_misses = [(ipc(r, GPU), 1 - hits(r)) for r, _, _ in found if hits(r) is not None]
    r = correlation(with_misses)
    why.append([name, reason(base, best)])
    return [name, workload, waves_text(model.waves(workload, GPU, default, base)), len(found), number(ipc(base, GPU)), miss(base), banks(base),
            number(ipc(best, GPU)), miss(best), banks(best), times(speedup(best, base)), t, f"`{plan}`", "-" if r is None else f"{r:.2f}", said]


STRIDES = [1 << k for k in range(1, 10)]
GRAINS = [1 << k for k in range(0, 8)]


def strides(model, app):
    """{(stride, granularity): row} of an application's strides in CTAs of the default size."""
    _, workload, cta, _, _ = app
    plans = {(a, b): f"threads=stride:{a}x{b}" for a in STRIDES for b in GRAINS}
    with model.at(PLATFORMS + 50):
        known = model.rows(workload, GPU, f"paper {cta(SCH_DEFAULT)}", list(plans.values()))
    return {k: known[p] for k, p in plans.items() if known[p]}


def heat_maps(page, name, workload, values):
    """values: {quantity: {(stride, granularity): value}}, each a plot."""
    for quantity, (key, cells) in values.items():
        page.plot(f"sch-{name}-{quantity}", plot.heat, f"{workload} under threads=stride:AxB, A across, B down", key, STRIDES, GRAINS,
                  cells)


def figure_5(model, page):
    """Matrix multiplication under all strides."""
    app = SCH_APPS[3]
    cells = strides(model, app)
    if len(cells) < 20:
        return
    rate, misses = {k: ipc(r, GPU) for k, r in cells.items()}, {k: 100 * (1 - hits(r)) for k, r in cells.items()}
    r = correlation([(rate[k], misses[k]) for k in cells])
    best = max(cells, key=lambda k: rate[k])
    page.text("### Strides of matrix multiplication (SCH figure 5)",
              f"{len(cells)} strides (across) and granularities (down) with CTAs of {SCH_DEFAULT} threads. IPC and L1 misses correlate with "
              f"{r:.2f} (the paper: -0.8); the best is stride {best[0]} at granularity {best[1]}, IPC {rate[best]:.0f} and "
              f"{misses[best]:.0f}% misses (the paper: four above 300, each with 16%; stride to granularity 8:1).")
    heat_maps(page, "matmul", app[1], {"ipc": ("IPC", rate), "misses": ("L1 misses, %", misses)})


def figure_7(model, page):
    """The copy by columns under all strides."""
    app = SCH_APPS[5]
    cells = {k: r for k, r in strides(model, app).items() if bank_efficiency(r) is not None}
    if len(cells) < 20:
        return
    rate, banks = {k: ipc(r, GPU) for k, r in cells.items()}, {k: 100 * bank_efficiency(r) for k, r in cells.items()}
    r = correlation([(rate[k], banks[k]) for k in cells])
    fine, coarse = ([v for (_, b), v in rate.items() if (b < 32) == small] for small in (True, False))
    page.text("### Strides of the copy by columns (SCH figure 7)",
              f"{len(cells)} strides (across) and granularities (down) with CTAs of {SCH_DEFAULT} threads: IPC, and the efficiency of DRAM's "
              f"banks, {min(banks.values()):.0f}% to {max(banks.values()):.0f}%. They correlate with {'-' if r is None else f'{r:.2f}'} (the "
              "paper: correlated, and not the only cause). Granularities under 32, whose warps no longer read whole lines, have "
              f"an IPC of {min(fine):.1f} to {max(fine):.1f}, the others of {min(coarse):.1f} to {max(coarse):.1f} (the paper: low under 32).")
    heat_maps(page, "copy-col", app[1], {"ipc": ("IPC", rate), "banks": ("efficiency of DRAM's banks, %", banks)})


def landscapes(model, page):
    """SCH figure 4: the IPC of all that was tried, sorted."""
    for name, workload, cta, _, _ in SCH_APPS:
        found = known_of(model, workload, cta)
        if len(found) < 20:
            continue
        order = sorted(found, key=lambda f: ipc(f[0], GPU))
        at = {(t, plan): k / (len(order) - 1) for k, (_, t, plan) in enumerate(order)}
        series = [(f"{t} threads", [(at[(t, plan)], ipc(r, GPU)) for r, own, plan in order if own == t]) for t in ACTIVE]
        page.plot(f"sch-{workload}", plot.dots, f"{name}: {len(order)} schedules, the default in red (SCH figure 4)", "IPC", series, None,
                  [at[(SCH_DEFAULT, "baseline")]] if (SCH_DEFAULT, "baseline") in at else [])


def rows_of_tiles(model, page):
    """The third parameter of SCH 5.1's tiles."""
    rows = []
    for name, workload, cta, _, _ in SCH_APPS:
        base = model.rows(workload, GPU, f"paper {cta(SCH_DEFAULT)}", ["baseline"])["baseline"]
        best, of = in_rows(model, workload, cta)
        if not base or not best or any(len(of[n]) < len(TILES) for n in ROWS):
            continue
        cells = [x for row, _, plan in [best] + [fastest(of[n]) for n in ROWS] for x in (times(speedup(row, base)), f"`{plan}`")]
        rows.append([name, workload, best[1]] + cells)
    if not rows:
        return
    page.text("### Tiles in rows of other lengths",
              f"The best of {len(TILES)} tiles in the launch's own rows, and in rows of {' and '.join(map(str, ROWS))} "
              "threads (`tile:WxHxL`), over the default, with as many active threads as the best one of all tiles has. They count in "
              "none of the other tables.")
    page.table("sch-rows-of-tiles", ["SCH 5.1", "workload", "threads", "own rows", "own rows: schedule"] +
               [x for n in ROWS for x in (f"rows of {n}", f"rows of {n}: schedule")], rows)


def chapter(model, page):
    page.text("## SCH: schedules of threads",
              "On gtx580 (SCH 4: GPGPU-Sim's GTX580, 16 KB L1), images and matrices of 512 by 512. A schedule is an order of "
              "threads, one of two block schedulers (the hardware's, or `bind=redirect`: subsequent CTAs on one core), and a number "
              "of active threads: CTAs of 64 to 1024, the default being 512, in one row. Registers of a thread are assumed, 10 to 16, of a compiler of 2012. The paper tries 2170 of them; `scripts/papers "
              "--whole sch` does, and *tried* says how many have been here. IPC counts instructions of threads on the whole GPU. *banks*: DRAM's efficiency, the part of its "
              "rate that is used while any of its six channels is busy.")
    why = []
    page.table("sch", ["SCH", "workload", "waves", "tried", "IPC", "L1 misses", "banks", "best IPC", "best L1 misses", "best banks",
                       "speedup", "threads", "schedule", "IPC to misses", "the paper"],
               [sch_row(model, *app, why) for app in SCH_APPS])
    page.text("Counters that moved, from the default to the best; *IPC to misses* is the correlation of IPC and L1 misses over all that were "
              "tried (the paper: -0.8 over matmul's strides, none for the copy by columns).")
    page.table("sch-moved", ["SCH", "moved"], why)
    figure_5(model, page)
    figure_7(model, page)
    landscapes(model, page)
    rows_of_tiles(model, page)
    rows = []
    for name, workload, size, said, tried in SCH_OTHERS:
        plans = tried + [with_chunks(p) for p in ["baseline"] + tried]
        known = model.rows(workload, GPU, size, ["baseline"] + plans)
        base = known["baseline"]
        if not base:
            continue
        plan, row = min(((p, r) for p, r in known.items() if r), key=lambda x: (round(x[1]["time_us"], 1), x[1]["l2_sectors"]))
        miss = lambda r: "-" if hits(r) is None else percent(1 - hits(r))
        rows.append([name, f"{workload}, {size}", waves_text(model.waves(workload, GPU, size, base)), f"{ipc(base, GPU):.0f}",
                     f"{ipc(row, GPU):.0f}", miss(base), miss(row),
                     times(speedup(row, base)), f"`{plan}`", said])
    page.text("Other benchmarks that the paper names, with a handful of schedules each:")
    page.table("sch-others", ["SCH", "workload, size", "waves", "IPC", "best IPC", "L1 misses", "best L1 misses", "speedup", "schedule", "the paper"], rows)

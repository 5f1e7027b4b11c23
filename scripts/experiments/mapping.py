"""MAP: mapping CTAs along x or y, figure 4."""
from . import h100, plot
from .model import geomean, hits, ipc, ratio, speedup
from .page import change, percent, reason, times, waves_text

# The paper's name, workload, size, its text on where the gain comes from.
MAP_APPS = [
    ("micro", "micro/neighbours", "paper", "mapping: 100%"),
    ("matmul", "matmul-blocked", "paper n=768", "scheduler: 64%"),
    ("conv", "conv2d", "paper width=2048 height=2048", "scheduler: 79%"),
    ("demosaic", "demosaic", "paper width=2048 height=2048", "scheduler: 55%"),
    ("imregionmax", "imregionmax", "paper", "scheduler: 66%"),
    ("tr", "transpose", "paper", "mapping: 99%"),
    ("mum", "mum", "paper", "scheduler: 97%"),
    ("lps", "lps", "paper steps=2", "mapping: 82%"),
]
MAP_PLANS = {"x": "bind=redirect,split=rows", "y": "order=col,bind=redirect,split=cols"}
MAP_PAPER = ("1.34x", "1.35x", "1.23x", "1.57x")


GROUPS = (4, 16)  # warps of high priority


def map_bars(model, workload, gpu, path, size, groups):
    """Rows of: GTO, CCWS, the programmable scheduler, the mapping that algorithm 1 takes, both; then the programmable
    scheduler with the best group alone and with the mapping, each with its number; the direction; waves."""
    kernels = model.directions(workload, gpu, size)
    taken = [d for _, d in kernels if d in MAP_PLANS]
    direction = taken[0] if taken else "round-robin"
    mapping = MAP_PLANS.get(direction)
    plans = ["baseline"] + ([mapping] if mapping else [])
    under = lambda scheduler, plans: model.rows(workload, path, size, plans, None,
                                                ("--free-mapping",) + (("--scheduler", scheduler) if scheduler else ()))
    gto, ccws, automatic = under("", plans), under("ccws", ["baseline"]), under("priority", plans)
    numbered = {n: under(f"priority:{n}", plans) for n in groups}
    bars = [gto["baseline"], ccws["baseline"], automatic["baseline"]] + ([gto[mapping], automatic[mapping]] if mapping else [])
    bars += [] if mapping else [bars[0], bars[2]]
    best = []
    for plan, auto in ((plans[0], bars[2]), (plans[-1], bars[4])):
        tried = [(rows[plan], n) for n, rows in numbered.items()] + [(auto, "auto")]
        tried = [(r["time_us"], i, n, r) for i, (r, n) in enumerate(tried) if r]
        best.append((min(tried)[3], min(tried)[2]) if tried else (None, "-"))
    return bars, best, direction, model.waves(workload, gpu, size, bars[0])


def map_table(model, page, gpu, path, name, groups):
    miss = lambda r: "-" if hits(r) is None else percent(1 - hits(r))
    rows, gain, drawn, why = [], [[] for _ in range(6)], [], []
    for app, workload, size, said in MAP_APPS:
        bars, best, direction, waves = map_bars(model, workload, gpu, path, size, groups)
        base = bars[0]
        if not base:
            continue
        all_ = bars[1:] + [r for r, _ in best]
        for i, b in enumerate(all_):
            gain[i].append(speedup(b, base))
        drawn.append((app, [speedup(b, base) for b in all_]))
        cells = [times(speedup(b, base)) for b in all_]
        if groups:
            cells[4:] = [f"{cells[4]} ({best[0][1]})", f"{cells[5]} ({best[1][1]})"]
        rows.append([app, f"{workload}, {size}", waves_text(waves), direction, f"{base['time_us']:.0f}", f"{ipc(base, gpu):.0f}"] +
                    [miss(b) for b in bars] +
                    [change(ratio(bars[3], base, "l2_sectors"))] + (cells if groups else cells[:4]) + [said])
        why.append([app, reason(base, bars[1]), reason(base, best[0][0] if groups else bars[2]), reason(base, bars[3])])
    if not rows:
        page.text("Not modelled.")
        return
    tail = 6 if groups else 4
    rows.append(["", f"geometric mean of {len(rows)}"] + [""] * 10 + [times(geomean(g)) for g in gain[:tail]] + [""])
    rows.append(["", "the paper, 5.2, averages"] + [""] * 10 + list(MAP_PAPER) + (["1.35x", "1.57x"] if groups else []) + [""])
    page.table("map-" + name, ["MAP", "workload, size", "waves", "direction", "us", "IPC"] +
               ["L1 misses, " + b for b in ("GTO", "CCWS", "ps", "cm", "cm+ps")] + ["L2 sectors, cm", "CCWS", "ps", "cm", "cm+ps"] + (["ps, best group", "cm+ps, best group"] if groups else []) +
               ["gain from, by the paper"], rows)
    if groups:
        page.text("Counters that moved, from GTO to each, which are the reason for each bar:")
        page.table(f"map-{name}-moved", ["MAP", "CCWS", "ps, best group", "cm"], why)
        page.plot("map-" + name, plot.bars, f"{name}: speedup over GTO (MAP figure 4)", "times", drawn,
                  ["CCWS", "ps", "cm", "cm+ps", "ps, best", "cm+ps, best"], (1, "GTO"))


def chapter(model, page):
    page.text("## MAP: mapping CTAs along x or y",
              "On gtx480, MAP's figure 4: over GTO, the speedup of CCWS, of the programmable warp scheduler (*ps*, "
              "`--scheduler priority`: groups of high priority as large as the launch's loads leave room for in L1), of the CTA mapping "
              "(*cm*, by the GPU's own CTA scheduler as in the paper, at no instructions: its algorithm 3 along the direction that its algorithm 1 takes; [map-directions.md](../../../docs/map-directions.md)), "
              "and of both (*cm+ps*). *best group*: the fastest of 4, 16 and as many warps of high priority as *ps* takes (`--scheduler priority:N`, in brackets), for the "
              "paper takes its group sizes from a dissertation that is not at hand. The paper's bars of single applications have no numbers in its text, which says where the "
              "gain of both comes from. *waves*: CTAs over those that the GPU runs at once. The whole of matmul would take 3 "
              "core-hours a bar; of lps, all ten steps, five times as long; of conv 4 times, of demosaic 16. " +
              h100.sentence(model, r"^order=[^,]*$|^bind=redirect$"),
              "L1's sets are chosen by a hash, as in GPGPU-Sim 3.2.2's GTX 480 (`gpgpu_cache:dl1 32:128:4,L:L:m:N:H`) and as on "
              "the card (BYP 6.2):")
    map_table(model, page, "gtx480", "gtx480", "gtx480", GROUPS)
    page.text("By plain address bits, as in GPGPU-Sim before 3.2.2, rows of an image whose width is a power of two share their sets, "
              "and the mapping along x then loses:")
    map_table(model, page, "gtx480", model.changed("gtx480", "plain", r"(?ms)(^\[l1\].*?^hashed = )true", r"\1false"), "plain", ())

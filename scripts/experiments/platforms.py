"""BYP's figure 22 on the caches that the tables of all 16 applications leave out, and what the code of a threshold costs in time."""
from .byp import BYP_APPS, WHOLE_ROWS, byp_curve
from .model import KB, PLATFORMS, geomean, ratio, speedup
from .page import change, times

QUICK = ("BFS", "BKP", "BTE", "STE", "PTF", "STC", "SRD", "SSC")  # take a second or two
# GPU, platform, cache, L1, what the paper says of it (5.1).
CACHES = [("gtx460", "Fermi, CC 2.1", "l1", 48 * KB, "bypassing is effective, most on large L1"), ("gtx460", "Fermi, CC 2.1", "l2", 16 * KB, "effective"),
          ("k40", "Kepler, CC 3.5", "l1", 16 * KB, "cha is detrimental"), ("k40", "Kepler, CC 3.5", "l1", 48 * KB, "cha is detrimental"),
          ("k40", "Kepler, CC 3.5", "l2", 16 * KB, "bypassing works perfectly"), ("gtx980", "Maxwell, CC 5.2", "l2", None, "no gain: .cs is gone")]
# GPU, figure, cache, L1, the overhead in the paper (5).
COSTS = [("gtx570", "12", "l1", 16 * KB, "1%"), ("gtx570", "13", "l1", 48 * KB, "2%"), ("gtx570", "14", "l2", 16 * KB, "4%")]
THRESHOLD = 2  # of the code that is priced; every CTA has more warps


def apps():
    return [a for a in BYP_APPS if a[0] in QUICK]


def caches(model, page):
    rows = []
    for i, (gpu, platform, cache, l1, said) in enumerate(CACHES):
        gains = [[], [], []]
        for _, workload, size, _ in apps():
            with model.at(PLATFORMS + 20 + i):
                c = byp_curve(model, workload, size, gpu, cache, l1, (2, 3))
            if not all(r for _, r in c):
                continue
            bpa, cha, best = c[0][1], c[-1][1], min((r for _, r in c), key=lambda r: r["time_us"])
            for of, x in zip(gains, (speedup(cha, bpa), speedup(best, bpa), speedup(best, cha))):
                of.append(x)
        if gains[0]:
            rows.append([platform, gpu, cache.upper() + (f", {l1 // KB} KB of L1" if l1 else ""), f"{len(gains[0])} of 16"] + [times(geomean(g)) for g in gains] + [said])
    if rows:
        page.text(f"Geometric means of {', '.join(QUICK)}; *best* is the fastest of bpa, cha, and thresholds 2 and 3.")
        page.table("byp-more-platforms", ["platform", "GPU", "around", "applications", "cha over bpa", "best over bpa", "best over cha", "the paper"], rows)
    return rows


def costs(model, page):
    rows = []
    for i, (gpu, figure, cache, l1, said) in enumerate(COSTS):
        over = []
        for _, workload, size, _ in apps():
            plan = f"bypass={cache}:{THRESHOLD}"
            with model.at(PLATFORMS + 10 + i):
                coded, register = (model.rows(workload, model.variant(gpu, l1), size, [plan], options=o)[plan] for o in ((), ("--bypass-register",)))
            if coded and register:
                over.append((coded["time_us"] / register["time_us"], coded["thread_instructions"] / register["thread_instructions"]))
        if over:
            rows.append([gpu, figure, cache.upper() + (f", {l1 // KB} KB of L1" if l1 else ""), f"{len(over)} of 16", change(geomean([o[0] for o in over])),
                         change(max(o[0] for o in over)), change(geomean([o[1] for o in over])), said])
    if rows:
        page.text(f"What the code of a threshold costs: time at threshold {THRESHOLD} over the time with the same threshold in a register of the caches (`--bypass-register`), which takes no code. The paper "
                  "compares bpa with a threshold of 0, and cha with all warps, which heddle's plans turn into bpa and cha. A register does not choose the read-only path, so that Maxwell's 13% have no row; the paper blames ptxas for them, which merges the "
                  "branches (6.1).")
        page.table("byp-overheads", ["GPU", "figure", "around", "applications", "overhead", "the largest", "instructions", "the paper"], rows)
    return rows


# Where the paper has L1 harmful and the model does not: on Kepler, with a quarter of L2's bandwidth.
SLOW_L2 = ("k80", 16 * KB, {"l2": 0.25})


def slow_l2(model, page):
    gpu, l1, put = SLOW_L2
    rows, gains = [], [[], []]
    for name, workload, size in [a[:3] for a in apps()] + [a[:3] for a in BYP_APPS if a[0] == "MVT"] + WHOLE_ROWS:
        with model.at(PLATFORMS):
            found = [byp_curve(model, workload, size, gpu, "l1", l1, (), setting) for setting in ({}, put)]
        if not all(r for c in found for _, r in c):
            continue
        speeds = [speedup(c[-1][1], c[0][1]) for c in found]
        for of, x in zip(gains, speeds):
            of.append(x)
        rows.append([name, f"{workload}, {size}", change(ratio(found[0][-1][1], found[0][0][1], "l2_sectors"))] + [times(x) for x in speeds])
    if rows:
        rows.append(["", f"geometric mean of {len(rows)}", ""] + [times(geomean(g)) for g in gains])
        page.text(f"*cha over bpa* around L1 on {gpu} with 16 KB of L1 (figure 15: 0.76x), as in the tables, and with a quarter of L2's bandwidth (less than DRAM's, and so no real GPU's).")
        page.table("byp-slow-l2", ["BYP", "workload, size", "L2 sectors, cha to bpa", "cha over bpa", "cha over bpa, a quarter of L2"], rows)
    return rows


def chapter(model, page):
    page.text("## BYP: other caches and overheads")
    made = [caches(model, page), costs(model, page), slow_l2(model, page)]
    if not any(made):
        page.text("Not modelled.")

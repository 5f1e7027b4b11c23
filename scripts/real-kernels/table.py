"""What heddle makes of captured launches: table.py HEDDLE OUT CSV reads OUT/SOURCE/LAUNCH and writes a line for each."""
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys

PLANS = ["order=reverse", "bind=claim", "bind=agents", "threads=col", "bypass=l1:0", "prefetch=l2:1"]
COLUMNS = ["source", "kernel", "grid", "accesses", "formed", "read", "ids", "shape", "accepted", "refused", "emulated",
           "off", "reordered"]


def heddle(program, *words, seconds=60):
    try:
        p = subprocess.run([program, *words], capture_output=True, text=True, timeout=seconds)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return 124, "", "time"


def reason(text):
    """Without the file, the numbers and the operands."""
    text = re.sub(r"^heddle: \S+: ", "", text.strip().splitlines()[-1] if text.strip() else "")
    return re.sub(r"line \d+: (.*;: )?", "", text)[:160]


def shape_of(kernel):
    t = kernel.get("tiles") or {}
    words = {"none": "", "launch": "as launched", "unknown": "not found"}
    return words.get(t.get("answer", "none"), t.get("shape") or "its own order"), t.get("answer", "none") != "none"


def row(program, folder, source):
    with open(folder + "/launch.json") as f:
        launch = json.load(f)
    grid = ",".join(str(x) for x in launch["grid"])
    out = dict.fromkeys(COLUMNS, "")
    out.update(source=source, kernel=launch["name"].rsplit(".", 1)[-1], grid=grid)
    code, text, err = heddle(program, "analyze", folder, "--static", "--json")
    if code:
        return {**out, "read": "no: " + reason(err)}
    k = json.loads(text)["kernels"][0]
    out["read"] = "yes"
    levels = [a.get("class", a.get("level", "")) for a in k["accesses"]]
    out["accesses"], out["formed"] = len(levels), sum(x in ("launch", "affine", "quasi-affine", "quasi") for x in levels)
    out["shape"], divided = shape_of(k)
    out["ids"] = "divided" if divided else ""
    accepted, refused = [], {}
    for plan in PLANS:
        code, _, err = heddle(program, "rewrite", folder + "/kernel.ptx", "--plan", plan, "--grid", grid, "-o", "/dev/null")
        if code:
            refused[plan] = reason(err)
        else:
            accepted.append(plan)
    out["accepted"] = " ".join(accepted)
    out["refused"] = "; ".join(f"{p}: {w}" for p, w in refused.items())
    if os.path.exists(folder + "/emulated"):
        with open(folder + "/emulated") as f:
            e = json.load(f)
        out["emulated"], out["off"] = e["word"] + (": " + e["why"] if e["why"] else ""), f"{e['worst']:.1e}"
    if os.path.exists(folder + "/reordered"):
        with open(folder + "/reordered") as f:
            out["reordered"] = f.read().strip()
    return out


def launches(out):
    for source in sorted(os.listdir(out)):
        for name in sorted(os.listdir(f"{out}/{source}")) if os.path.isdir(f"{out}/{source}") else ():
            folder = f"{out}/{source}/{name}"
            if os.path.exists(folder + "/launch.json") and os.path.exists(folder + "/kernel.ptx"):
                yield folder, source


def wanted(out, known):
    """Launches but for those whose source, kernel and grid are known."""
    for folder, source in launches(out):
        with open(folder + "/launch.json") as f:
            launch = json.load(f)
        if (source, launch["name"].rsplit(".", 1)[-1], ",".join(str(x) for x in launch["grid"])) not in known:
            yield folder, source


def main():
    program, out, path = sys.argv[1:4]
    with open(path, "w", newline="") as f, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        w.writeheader()
        for r in pool.map(lambda x: row(program, *x), list(launches(out))):
            w.writerow(r)
            f.flush()


if __name__ == "__main__":
    main()

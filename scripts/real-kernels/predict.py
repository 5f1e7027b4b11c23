"""What models of GPUs predict for captured launches: predict.py HEDDLE OUT CSV [GPU...] reads OUT/SOURCE/LAUNCH and writes
a line for each launch that has none in CSV yet: for each GPU the best plan's speedup and its name, else nothing."""
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

import table

GPUS = ["h100", "a100", "rtx4090", "b200"]
# Work for a launch on a GPU, as seconds of two idle cores, and the seconds after which it has no answer.
BUDGET, WALL = 1, 300


def predict(program, folder, gpu, scratch):
    words = [program, "optimize", folder, "--gpu", gpu, "--budget", str(BUDGET), "--wall", str(WALL), "--threads",
             "1", "-o", scratch, "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return "no answer: " + (table.reason(done.stderr) or "time")
    best = json.loads(done.stdout)
    return "" if best["best"] == "baseline" else f"{best['speedup']:.2f}x {best['best']}"


def row(program, folder, source, gpus):
    with open(folder + "/launch.json") as f:
        launch = json.load(f)
    out = dict(source=source, kernel=launch["name"].rsplit(".", 1)[-1], grid=",".join(str(x) for x in launch["grid"]))
    with tempfile.TemporaryDirectory() as scratch:
        return {**out, **{g: predict(program, folder, g, scratch) for g in gpus}}


def main():
    program, out, path, *gpus = sys.argv[1:]
    gpus = gpus or GPUS
    known = set()
    if os.path.exists(path):
        with open(path) as f:
            known = {(r["source"], r["kernel"], r["grid"]) for r in csv.DictReader(f)}
    with open(path, "a", newline="") as f, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        w = csv.DictWriter(f, ["source", "kernel", "grid", *gpus], lineterminator="\n")
        if not known:
            w.writeheader()
        for r in pool.map(lambda x: row(program, *x, gpus), table.wanted(out, known)):
            w.writerow(r)
            f.flush()


if __name__ == "__main__":
    main()

"""Predictions of `heddle sweep` and `heddle corun`, kept on disk, and figures made of them."""
import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KB = 1024


class Model:
    """Predictions of `heddle sweep`, by the clock, kept on disk."""

    def __init__(self, heddle, cache, seconds, threads):
        self.heddle, self.cache, self.seconds, self.frozen = heddle, cache, 0.0, False  # seconds: of a core
        self.end = time.monotonic() + seconds if seconds else None
        self.threads = threads
        self.env = dict(os.environ)
        self.env.setdefault("HEDDLE_DATA", ROOT)
        os.makedirs(cache, exist_ok=True)

    def over(self):
        return self.frozen or (self.end is not None and time.monotonic() > self.end)

    def changed(self, gpu, name, pattern, text):
        """The GPU with a line of its file changed."""
        path = os.path.join(self.cache, f"{gpu}-{name}.toml")
        with open(os.path.join(ROOT, "gpus", gpu + ".toml")) as f:
            now = f.read()
        new = re.sub(pattern, text, now, count=1)
        if new == now:
            sys.exit(f"{gpu}: nothing to change for {name}")
        with open(path, "w") as f:
            f.write(new)
        return path

    def with_l1_loads(self, gpu):
        """The GPU with global loads cached in L1, as -dlcm=ca compiles them."""
        return self.changed(gpu, "ca", r"(?m)^global = false\b", "global = true")

    def kept(self, label):
        path = os.path.join(self.cache, label + ".json")
        if not os.path.exists(path):
            return {}
        with open(path) as f:
            return json.load(f)

    def keep(self, label, known):
        path = os.path.join(self.cache, label + ".json")
        with open(path + ".new", "w") as f:
            json.dump(known, f, indent=1, sort_keys=True)
        os.replace(path + ".new", path)

    def rows(self, workload, gpu, size, plans, l1=None, options=()):
        """Predictions by plan; a plan that is refused, does not fit, or was not tried yet is None."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join([workload.replace("/", "_"), size.replace(" ", "_"), name] + ([f"{l1 // KB}k"] if l1 else []) +
                         [o.lstrip("-") for o in options])
        known = self.kept(label)
        missing = [p for p in dict.fromkeys(plans) if p not in known]
        if missing and not self.over():
            known.update(self.sweep(workload, gpu, size, missing, l1, label, options))
            self.keep(label, known)
        return {p: known.get(p) for p in plans}

    def run(self, command):
        before = os.times()
        done = subprocess.run([self.heddle] + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=self.env)
        after = os.times()
        self.seconds += sum(after[k] - before[k] for k in (2, 3))  # of the child
        if done.returncode:
            sys.exit(f"heddle {' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def sweep(self, workload, gpu, size, plans, l1, label, options=()):
        with tempfile.NamedTemporaryFile("w", suffix=".plans") as f:
            f.write("\n".join(plans) + "\n")
            f.flush()
            command = ["sweep", workload, "--gpu", gpu, "--depth", "timing", "--exact", "--threads", str(self.threads),
                       "--plans", "@" + f.name] + size_options(size)
            command += (["--l1", str(l1)] if l1 else []) + list(options)
            begin = time.monotonic()
            out = self.run(command)
        print(f"{time.monotonic() - begin:6.1f} s  {label}: {len(plans)} plans", file=sys.stderr, flush=True)
        # The first row is the default, whether it was named or not; the others are the plans in their order.
        named = ["baseline"] + [p for p in plans if p != "baseline"]
        rows = list(csv.DictReader(io.StringIO(out)))
        if len(rows) != len(named):
            sys.exit(f"heddle {' '.join(command)}: {len(rows)} rows for {len(named)} plans")
        result = {}
        for plan, row in zip(named, rows):
            result[plan] = {k: float(v) for k, v in row.items() if k not in ("plan", "status")} \
                if row["status"] == "ok" else None
        return result

    def corun(self, workloads, sizes, gpu, turns):
        """`heddle corun` of two workloads on a modelled GPU: its JSON; None: not modelled yet."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join(["corun"] + [x.replace("/", "_") for pair in zip(workloads, sizes) for x in pair] + [name])
        known = self.kept(label)
        if not known and not self.over():
            begin = time.monotonic()
            known = json.loads(self.run(["corun"] + list(workloads) + ["--device", "model:" + gpu, "--size", ",".join(sizes),
                                                                      "--repetitions", str(turns), "--json"]))
            print(f"{time.monotonic() - begin:6.1f} s  {label}", file=sys.stderr, flush=True)
            self.keep(label, known)
        return known or None

    def directions(self, workload, gpu, size):
        """MAP's algorithm 1: [(CTAs of the grid, direction)] of each kernel."""
        label = "-".join(["directions", workload.replace("/", "_"), size.replace(" ", "_"), gpu])
        known = self.kept(label)
        if not known and not self.over():
            out = self.run(["analyze", "--directions", workload, "--gpu", gpu] + size_options(size))
            for line in out.splitlines()[2:]:
                cells = re.split(r"  +", line.strip())
                known[cells[1]] = [math.prod(int(n) for n in cells[2].split(" x ")), cells[6]]
            self.keep(label, known)
        return list(known.values())

    def waves(self, workload, gpu, size, base):
        """Full waves of CTAs in the largest launch: CTAs over those that the GPU runs at once."""
        grids = [n for n, _ in self.directions(workload, gpu, size)]
        return max(grids) / (base["resident"] * n_sms(gpu)) if grids and base else None


def size_options(size):
    """"paper", or "paper n=1024 m=512": a size with other values for some of its parameters."""
    words = size.split()
    return ["--size", words[0]] + [o for w in words[1:] for o in ("--param", w)]


def number_of(gpu, key):
    with open(os.path.join(ROOT, "gpus", gpu + ".toml")) as f:
        return float(re.search(rf"(?m)^{key} *= *([0-9.]+)", f.read()).group(1))


def n_sms(gpu):
    return int(number_of(gpu, "count"))


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def hits(row):
    return row["l1_hits"] / row["l1_sectors"] if row and row["l1_sectors"] else None


def ratio(row, base, key):
    return row[key] / base[key] if row and base and base[key] else None


def speedup(row, base):
    return base["time_us"] / row["time_us"] if row and base else None

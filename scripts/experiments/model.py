"""Predictions of `heddle sweep`, `corun` and `analyze --directions`, kept on disk, and figures made of them."""
import contextlib
import csv
import functools
import glob
import io
import json
import math
import os
import re
import sys
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KB = 1024
# Ranks: what a run that is cut off should have made. The lowest come first; what is added to one makes its tables whole one after
# the other. HEADLINES: the tables of CLU, MAP, SCH and SMC; CAUSES: of what differs from the papers; FIGURES: those of BYP that have numbers in the paper; SETTINGS: CLU's
# where the paper leaves them open; PLATFORMS: BYP's others, and SCH's strides; MEASURED: an H100's; REST: settings of less
# weight; LARGE: what takes minutes for a row; WHOLE: hours.
HEADLINES, CAUSES, FIGURES, SETTINGS, PLATFORMS, MEASURED, REST, LARGE, WHOLE = range(0, 900, 100)
BY_SM = ("micro/locality",)  # what these read depends on where their CTAs run: a model's are not the emulator's

# A prediction that is not known yet. label: of its file in the cache; what: workload and size, by which the time that
# it takes is estimated; plans: those of a sweep, else (); read(output, plans): what to keep;
# apart: whether each plan may have a command of its own; rank: those of lower ranks come first.
Request = namedtuple("Request", "label what plans command read apart rank")


class Rows(dict):
    """Rows by plan; whole: all of them were tried."""
    whole = True


class Model:
    """What is known. What is asked for and is not known is wanted (work.py finds it), unless that is frozen."""

    def __init__(self, cache):
        self.cache, self.frozen, self.wanted, self.rank, self.files, self.variants = cache, False, [], HEADLINES, {}, {}
        os.makedirs(cache, exist_ok=True)

    @contextlib.contextmanager
    def at(self, rank):
        """What is asked for meanwhile has this rank, if it would come sooner else."""
        before, self.rank = self.rank, max(self.rank, rank)
        yield
        self.rank = before

    def text_of(self, gpu):
        with open(os.path.join(ROOT, "gpus", gpu + ".toml")) as f:
            return f.read()

    def changed(self, gpu, name, pattern, text):
        """The GPU with a line of its file changed."""
        path = os.path.join(self.cache, f"{gpu}-{name}.toml")
        now = self.text_of(gpu)
        new = re.sub(pattern, text, now, count=1)
        if new == now:
            sys.exit(f"{gpu}: nothing to change for {name}")
        with open(path + ".new", "w") as f:
            f.write(new)
        os.replace(path + ".new", path)
        return path

    def variant(self, gpu, l1=None, scheduler=None, mshrs=None, ca=False, cta=None, l2=None):
        """The GPU with another size of L1, which leaves shared memory the rest of their store on Fermi and Kepler; another warp
        scheduler; other MSHRs; global loads cached in L1, as -dlcm=ca compiles them; so many cycles from one CTA's launch to the next
        one's; so many parts of L2's bandwidth. What is None stays as the file has it."""
        asked = gpu, l1, scheduler, mshrs, ca, cta, l2
        if asked not in self.variants:
            self.variants[asked] = self.make_variant(*asked)
        return self.variants[asked]

    def make_variant(self, gpu, l1, scheduler, mshrs, ca, cta, l2):
        text, name = self.text_of(gpu), [gpu]

        def put(key, value, called):
            nonlocal text
            new, n = re.subn(rf"(?m)^({key} *= *)\S+", rf"\g<1>{value}", text, count=1)
            if not n:
                sys.exit(f"{gpu}: no {key}")
            if new != text:
                text = new
                name.extend([called] if called else [])
        if l1 is not None:
            own = int(re.search(r"(?ms)^\[l1\]\nbytes *= *(\d+)", text).group(1))
            if l1 != own:
                text = re.sub(r"(?m)(^\[l1\]\nbytes *= *)\d+", rf"\g<1>{l1}", text, count=1)
                name.append(f"{l1 // KB}k")
            if l1 != own and number_of(gpu, "arch") < 50:
                put("shared_bytes", int(number_of(gpu, "shared_bytes")) + own - l1, None)
        if scheduler:
            put("scheduler", f'"{scheduler}"', scheduler)
        if mshrs:
            put("mshrs", mshrs, f"m{mshrs}")
        if ca:
            put("global", "true", "ca")
        if cta:
            text = text.replace("\n[l1]\n", f"\n[launch]\nfirst_us = 0\nnext_us = 0\ncta_cycles = {cta}\n\n[l1]\n", 1)
            name.append(f"cta{cta}")
        if l2:
            text = re.sub(r"(?ms)(^\[l2\].*?^bytes_per_cycle *= *)([0-9.]+)", lambda m: f"{m[1]}{float(m[2]) * l2:g}", text, count=1)
            name.append(f"l2x{l2:g}")
        if len(name) == 1:
            return gpu
        path = os.path.join(self.cache, "-".join(name) + ".toml")
        with open(path + ".new", "w") as f:
            f.write(text)
        os.replace(path + ".new", path)
        return path

    def kept(self, label):
        if label not in self.files:
            path = os.path.join(self.cache, label + ".json")
            self.files[label] = {}
            if os.path.exists(path):
                with open(path) as f:
                    self.files[label] = json.load(f)
        return self.files[label]

    def keep(self, label, more):
        """Add to what is known."""
        known = self.kept(label)
        known.update(more)
        path = os.path.join(self.cache, label + ".json")
        with open(path + ".new", "w") as f:
            json.dump(known, f, indent=1, sort_keys=True)
        os.replace(path + ".new", path)

    def want(self, label, what, plans, command, read, apart=False):
        if not self.frozen:
            self.wanted.append(Request(label, what, plans, command, read, apart, self.rank))

    def rows(self, workload, gpu, size, plans, l1=None, options=(), exact=True):
        """Predictions by plan; a plan that is refused, does not fit, or was not tried yet is None. Where launches may be
        sampled, how much of them is depends on all plans, which are one command then."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join([workload.replace("/", "_"), size.replace(" ", "_"), name] + ([f"{l1 // KB}k"] if l1 else []) +
                         [o.lstrip("-") for o in options])
        known = self.kept(label)
        missing = tuple(p for p in dict.fromkeys(plans) if p not in known)
        missing = missing if exact or not missing else tuple(plans)
        if missing:
            command = ["sweep", workload, "--gpu", gpu, "--depth", "timing"] + (["--exact"] if exact else []) + size_options(size)
            command += (["--l1", str(l1)] if l1 else []) + list(options)
            self.want(label, f"{workload} {size}", missing, command, read_sweep, exact)
        rows = Rows((p, known.get(p)) for p in plans)
        rows.whole = not missing
        return rows

    def thresholds(self, workload, gpu, size, l1):
        """BYP's run-time ways to a threshold (4.4.2): "vote" and "sampled" of `heddle tune`, each {"winner": the warps that use
        L1, "shares": [...]} or {"why": there is none}; {}: not known yet."""
        label = "-".join(["thresholds", workload.replace("/", "_"), size.replace(" ", "_"), gpu] + ([f"{l1 // KB}k"] if l1 else []))
        known = self.kept(label)
        if not known:
            command = ["tune", workload, "--device", "model:" + self.variant(gpu, l1), "--strategy", "compare", "--store", "none",
                       "--budget", "1", "--no-advice", "--no-proof", "--threads", "1", "--json"] + size_options(size)
            self.want(label, f"thresholds {workload} {size}", (), command, read_thresholds)
        return known

    def agents_vote(self, workload, gpu, size, plan):
        """CLU's vote on the number of active agents (4.3) under a plan with bind=agents:auto: {"winner": agents, "shares": [...]} or
        {"why": there is none}; {}: not known yet."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join(["agents", workload.replace("/", "_"), size.replace(" ", "_"), name])
        known = self.kept(label)
        if plan not in known:
            command = ["tune", workload, "--device", "model:" + gpu, "--strategy", "vote", "--plan", plan, "--store", "none",
                       "--budget", "1", "--no-advice", "--no-proof", "--threads", "1", "--json"] + size_options(size)
            self.want(label, f"agents {workload} {size}", (), command,
                      lambda out, _: {plan: json.loads(out)[0]["kernels"][0]["agents"]})
        return known.get(plan, {})

    def launch(self, label, source, kernel, grid, block, arguments, gpu, plans=("baseline",)):
        """{plan: prediction} of one launch of a kernel of a file, named from here; {}: some are not known yet."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join([kernel, label, name])
        known = self.kept(label)
        if any(p not in known for p in plans):
            command = ["sweep", os.path.join(os.path.dirname(__file__), source), "-k", kernel, "--grid", str(grid), "--block",
                       str(block), "--gpu", gpu, "--depth", "timing", "--exact"] + [x for a in arguments for x in ("--arg", a)]
            self.want(label, kernel, plans, command, read_sweep)
            return {}
        return known

    def corun(self, workloads, sizes, gpu, sms=0):
        """`heddle corun` of two workloads on a modelled GPU, with so many SMs for the first: its JSON, or None."""
        name = os.path.splitext(os.path.basename(gpu))[0]
        label = "-".join(["corun"] + [x.replace("/", "_") for pair in zip(workloads, sizes) for x in pair] + [name] +
                         ([f"sms{sms}"] if sms else []))
        known = self.kept(label)
        if not known:
            command = ["corun"] + list(workloads) + ["--device", "model:" + gpu, "--size", ",".join(sizes),
                                                     "--repetitions", "1", "--json"] + (["--sms", str(sms)] if sms else [])
            what = " ".join(["corun"] + list(workloads)) + (" split" if sms else "")
            self.want(label, what, (), command, lambda out, _: json.loads(out))
        return known or None

    def directions(self, workload, gpu, size):
        """MAP's algorithm 1: [(CTAs of the grid, direction)] of each kernel."""
        label = "-".join(["directions", workload.replace("/", "_"), size.replace(" ", "_"), gpu])
        known = self.kept(label)
        if not known:
            self.want(label, "directions", (), ["analyze", "--directions", workload, "--gpu", gpu] + size_options(size),
                      read_directions)
        return list(known.values())

    def reuse(self, workload, size):
        """`heddle analyze`, of which the reuse of lines and words is kept."""
        label = "-".join(["reuse", workload.replace("/", "_"), size])
        known = self.kept(label)
        if not known:
            self.want(label, "reuse", (), ["analyze", workload, "--size", size, "--seconds", "1", "--threads", "1", "--json"],
                      lambda out, _: {k: json.loads(out)[k] for k in ("reuse", "reuse_words")})
        return known

    def affinity(self, workload, size):
        """Edges of the affinity graph of the CTAs of a workload's longest launch: [(CTA, CTA, affinity)]; []: not known yet."""
        label = "-".join(["affinity", workload.replace("/", "_"), size.replace(" ", "_")])
        known = self.kept(label)
        if not known:
            self.want(label, "affinity", (), ["analyze", workload, "--dot", "affinity", "--verbose", "--threads", "1"] + size_options(size),
                      read_edges)
        return known.get("edges", [])

    def waves(self, workload, gpu, size, base):
        """Full waves of CTAs in the largest launch: CTAs over those that the GPU runs at once."""
        grids = [n for n, _ in self.directions(workload, gpu, size)]
        return max(grids) / (base["resident"] * n_sms(gpu)) if grids and base else None


def read_sweep(out, plans):
    """The first row is the default, whether it was named or not; the others are the plans in their order."""
    named = ["baseline"] + [p for p in plans if p != "baseline"]
    rows = list(csv.DictReader(io.StringIO(out)))
    if len(rows) != len(named):
        raise ValueError(f"{len(rows)} rows for {len(named)} plans")
    return {plan: {k: float(v) for k, v in row.items() if k not in ("plan", "status", "why")} if row["status"] == "ok" else None
            for plan, row in zip(named, rows)}


def read_thresholds(out, _):
    kernel = json.loads(out)[0]["kernels"][0]
    return {k: kernel[k] for k in ("vote", "sampled")}


def read_directions(out, _):
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()[2:]]
    return {r[1]: [math.prod(int(n) for n in r[2].split(" x ")), r[6]] for r in rows}


def read_edges(out, _):
    return {"edges": [[int(a), int(b), float(x)] for a, b, x in re.findall(r'(\d+) -- (\d+) \[.*label="([0-9.]+)"', out)]}


def workloads_of_papers():
    """{name: the papers that it is from}."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "kernels", "**", "workload.toml"), recursive=True)):
        with open(path) as f:
            paper = re.search(r'(?m)^paper = "(.*)"', f.read())
        if paper:
            found[os.path.relpath(os.path.dirname(path), os.path.join(ROOT, "kernels"))] = paper.group(1)
    return found


def size_options(size):
    """"paper", or "paper n=1024 m=512": a size with other values for some of its parameters."""
    words = size.split()
    return ["--size", words[0]] + [o for w in words[1:] for o in ("--param", w)]


@functools.lru_cache(None)
def number_of(gpu, key):
    with open(os.path.join(ROOT, "gpus", gpu + ".toml")) as f:
        return float(re.search(rf"(?m)^{key} *= *([0-9.]+)", f.read()).group(1))


def n_sms(gpu):
    return int(number_of(gpu, "count"))


def mean(values):
    values = [v for v in values if v]
    return sum(values) / len(values) if values else None


def without_outliers(values):
    """Neither the largest nor the least."""
    return sorted(v for v in values if v)[1:-1]


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def hits(row):
    return row["l1_hits"] / row["l1_sectors"] if row and row["l1_sectors"] else None


def ratio(row, base, key):
    return row[key] / base[key] if row and base and base[key] else None


def speedup(row, base):
    return base["time_us"] / row["time_us"] if row and base else None


def ipc(row, gpu):
    """Instructions of threads per cycle, of the whole GPU."""
    return row["thread_instructions"] / (row["time_us"] * number_of(gpu, "clock_mhz")) if row and row["time_us"] else None

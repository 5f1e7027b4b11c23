"""round.py HEDDLE FOLDER: one round of a steered GPU: parts a, d, e alone and in turn, then b and c together, then m, f, t. In the
environment: LIMIT (seconds of all), PARTS, JOBS (programs at once), PREFIX (put before each command: to try the script on an
emulator), SMALL (a few of everything). A program that hangs is killed with all its children, and left behind if that does not
help."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

BEGIN = time.monotonic()
HERE = pathlib.Path(__file__).resolve().parent
HEDDLE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
LIMIT = float(os.environ.get("LIMIT", 420))
PARTS = os.environ.get("PARTS", "adebcfmt")
JOBS = int(os.environ.get("JOBS", 12))
PREFIX = os.environ.get("PREFIX", "").split()
SMALL = bool(os.environ.get("SMALL"))
WORK = pathlib.Path(tempfile.mkdtemp(prefix="round-"))
BIN, PY = WORK / "bin", HERE / "py"
CPUS = sorted(os.sched_getaffinity(0))
Result = collections.namedtuple("Result", "code out err seconds hung pid", defaults=(0,))
lock = threading.Lock()


def left():
    return LIMIT - (time.monotonic() - BEGIN)


def say(*words):
    with lock:
        print(f"[{time.monotonic() - BEGIN:5.0f}]", *words, flush=True)


def go(command, limit, env=None, cpu=None, cwd=None, cache=None, bare=False):
    """Runs it in a group of processes of its own. A process that cannot be killed is left behind."""
    limit = min(limit, left())
    if limit < 1:
        return Result(-1, "", "no time left", 0, True)
    own = dict(os.environ, **(env or {}))
    made = None
    if cache is None:
        made = cache = tempfile.mkdtemp(dir=WORK)
    own["XDG_CACHE_HOME"] = str(cache)
    own.setdefault("TRITON_CACHE_DIR", str(cache) + "/triton")
    own.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache) + "/inductor")
    own.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "4")
    own.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    own.setdefault("CUPY_CACHE_DIR", str(cache) + "/cupy")
    own.setdefault("OMP_NUM_THREADS", "2")
    files = [tempfile.TemporaryFile(dir=WORK) for _ in range(2)]
    begin = time.monotonic()
    hung = False
    try:
        p = subprocess.Popen(
            ([] if bare else PREFIX) + [str(c) for c in command], stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1], env=own,
            cwd=cwd or WORK, start_new_session=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None)
        try:
            code = p.wait(limit)
        except subprocess.TimeoutExpired:
            hung, code = True, -1
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except OSError:
                pass
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                code = -2
    except OSError as error:
        return Result(-3, "", str(error), 0, False)
    took = time.monotonic() - begin
    texts = []
    for f in files:
        f.seek(0)
        texts.append(f.read(1 << 20).decode(errors="replace"))
        f.close()
    if made and not hung:
        shutil.rmtree(made, ignore_errors=True)
    return Result(code, texts[0], texts[1], took, hung, p.pid)


def ways_of(report, folder, gain):
    tune = ["--gain", "0", "--worth", "0"] if gain else []
    run = [HEDDLE, "run", "--json", report]
    return {
        "run": run + ["--"],
        "tune": run + ["--tune", *tune, "--budget", "0.5", "--total", "3", "--"],
        "record": [HEDDLE, "record", "-o", folder, "--json", report, "--"],
        "profile": [HEDDLE, "profile", "--most", "2", "--threads", "1", "--json", report, "--"],
        "force": run + ["--force-plan", "order=reverse", "--"],
        "agents": run + ["--force-plan", "bind=agents", "--"],
        "claim": run + ["--force-plan", "bind=claim", "--"],
        "plain": [],
        "again": [],
        "count": run + ["--"],
    }


def read_report(path):
    try:
        r = json.loads(pathlib.Path(path).read_text())
        return r if isinstance(r, dict) else {}
    except (OSError, ValueError):
        return {}


# ---- a: kernels that wait ----------------------------------------------------------------------------------------

def part_a(log):
    times, limit = (2, 20) if SMALL else (10, 15)
    names = ["plain", "force", "agents", "claim", "tune", "record", "profile"]
    results = {n: [] for n in names}
    hangs = collections.Counter()

    def one(name, k):
        if hangs[name] >= 3:
            return
        folder = WORK / f"a-{name}-{k}"
        folder.mkdir()
        report = folder / "report.json"
        r = go(ways_of(report, folder / "cap", True)[name] + [BIN / "waiting"], limit)
        hangs[name] += r.hung
        results[name].append((r, read_report(report)))
        print(f"waiting {name} {k}: exit {r.code} {r.seconds:.2f} s {'HUNG' if r.hung else ''} {r.out.strip()!r} "
              f"{r.err.strip()[-300:]!r}", file=log, flush=True)
        shutil.rmtree(folder, ignore_errors=True)

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda x: one(*x), [(n, k) for k in range(times) for n in names]))
    for n in names:
        rs = [r for r, _ in results[n]]
        good = sum(not r.hung and r.code == 0 and "waiting: ok" in r.out for r in rs)
        steered = sorted(j.get("steered", 0) for _, j in results[n])
        say(f"a waiting {n:8}: {good} of {len(rs)} right, {sum(r.hung for r in rs)} hung; steered {steered[:1]} to {steered[-1:]};"
            f" slowest {max((r.seconds for r in rs), default=0):.1f} s")


# ---- d: launches -------------------------------------------------------------------------------------------------

def quartiles(t):
    t = sorted(t)
    return t[0], t[len(t) // 4], t[len(t) // 2], t[3 * len(t) // 4]


def gpu_of():
    r = go([BIN / "launchcost", "gpu"], 30)
    lines = r.out.splitlines()
    if len(lines) < 2:
        raise RuntimeError(f"launchcost gpu: {r}")
    return lines[0], lines[1]


def keep_all(cache, gpu, driver, rows):
    """Verdicts in the store of this cache."""
    (cache / "heddle").mkdir(parents=True, exist_ok=True)
    for plan, ptx, kernel, launch in rows:
        r = subprocess.run([BIN / "keep", cache / "heddle/verdicts.db", gpu, driver, plan, ptx, kernel, launch],
                           capture_output=True, text=True, timeout=20, check=False)
        if r.returncode:
            raise RuntimeError(f"keep {plan}: {r.stdout} {r.stderr}")


def part_d(log):
    gpu, driver = gpu_of()
    say("d GPU", gpu, "driver", driver)
    ptx, launch = HERE / "launch.ptx", "grid=8x1x1 block=32x1x1 shared=0 args=any"
    cache = WORK / "d"
    keep_all(cache, gpu, driver, [("order=reverse", ptx, "k1", launch), ("bind=agents", ptx, "k2", launch), ("table", ptx, "k3", launch)])
    cpu = CPUS[-1]
    rounds, batches = (2, 5) if SMALL else (16, 300)
    run = [HEDDLE, "run", "--"]
    ways = {"plain": ([], "k0"), "none": (run, "k0"), "order": (run, "k1"), "agents": (run, "k2"), "table": (run, "k3")}
    least, middle = {w: [] for w in ways}, {w: [] for w in ways}
    went = collections.Counter()
    names = list(ways)
    for k in range(rounds):
        if left() < 60:
            break
        for w in names[k % len(names):] + names[:k % len(names)]:
            prefix, kernel = ways[w]
            r = go(prefix + [BIN / "launchcost", "one", ptx, kernel, batches], 15, cpu=cpu, cache=cache)
            m = re.search(r"least +([\d.]+) quartile +([\d.]+) median +([\d.]+)", r.out)
            s = re.search(r"(\d+) launch\w*, (\d+) of them steered", r.err)
            print(k, w, r.code, f"{r.seconds:.2f}", r.out.strip(), s[0] if s else r.err.strip()[-200:], file=log, flush=True)
            if m and r.code == 0:
                least[w].append(float(m[1]))
                middle[w].append(float(m[3]))
                went[w] += int(s[2]) > 0 if s else 0
    for what, t in (("least batch", least), ("median batch", middle)):
        base = quartiles(t["plain"])[2] if t["plain"] else 0
        for w in names:
            if t[w]:
                q = quartiles(t[w])
                say(f"d processes, {what:12} {w:7} least {q[0]:7.0f} quartiles {q[1]:7.0f} {q[2]:7.0f} {q[3]:7.0f} ns"
                    f"  median over plain's {q[2] - base:+6.0f}  (of {len(t[w])}, steered in {went[w]})")
        pairs = {w: [b - a for a, b in zip(t["plain"], t[w])] for w in names[1:]}
        say(f"d processes, {what:12} median of the rounds' differences from plain:",
            " ".join(f"{w} {statistics.median(p):+.0f}" for w, p in pairs.items() if p))
    for k in range(1 if SMALL else 5):
        r = go(run + [BIN / "launchcost", "all", ptx, 20 if SMALL else 1500], 30, cpu=cpu, cache=cache)
        print("in one process", r.code, r.out, r.err, file=log, flush=True)
        if r.code or not r.out:
            say("d in one process: exit", r.code, r.out[-200:], r.err[-200:])
        elif k == 0:
            for line in r.out.splitlines():
                say("d in one process:", line)
        else:
            say("d in one process, medians again:", " ".join(f"{m[1]} {m[2]}" for m in re.finditer(r"^(\+\w+) .*median +([-\d.]+)", r.out, re.M)))
    r = go([BIN / "launchcost", "all", ptx, 20 if SMALL else 1500], 30, cpu=cpu, cache=cache)
    say("d in one process, without heddle (noise):", " ".join(f"{m[1]} {m[2]}" for m in re.finditer(r"^(\+\w+) .*median +([-\d.]+)", r.out, re.M)))


# ---- e: the start ------------------------------------------------------------------------------------------------

def part_e(log):
    gpu, driver = gpu_of()
    none, one = WORK / "e-none", WORK / "e-one"
    none.mkdir()
    # `one` has the rewritten kernel's machine code from the run before, `cold` has not, and the driver's own cache has it; in the
    # last two that is off.
    off = {"CUDA_CACHE_DISABLE": "1"}
    keep_all(one, gpu, driver, [("order=reverse", WORK / "thousand.ptx", "_Z7kernel0Pfi", "grid=8x1x1 block=32x1x1 shared=0 args=any")])
    run = [HEDDLE, "run", "--"]
    ways = {"plain": ([], none, None, False), "none": (run, none, None, False), "one": (run, one, None, False),
            "cold": (run, one, None, True), "no-cache": (run, one, off, False), "no-cache-cold": (run, one, off, True)}
    names = list(ways)
    took = {w: collections.defaultdict(list) for w in names}
    seen = collections.Counter()
    for k in range(2 if SMALL else 19):
        if left() < 45:
            break
        for w in names[k % len(names):] + names[:k % len(names)]:
            prefix, cache, env, wipe = ways[w]
            if wipe:
                shutil.rmtree(cache / "heddle/cubins", ignore_errors=True)
            r = go(prefix + [BIN / "thousand"], 20, env=env, cpu=CPUS[-1], cache=cache)
            print(k, w, r.code, f"{r.seconds * 1e3:.2f} ms", r.out.strip(), r.err.strip(), file=log, flush=True)
            if not k or r.code:
                if r.code:
                    say("e", w, "exit", r.code, r.out[-200:], r.err[-200:])
                continue  # the first fills caches
            took[w]["wall of the process"].append(r.seconds * 1e3)
            for m in re.finditer(r"([A-Za-z]\S+) (\d+\.\d+)", r.err.splitlines()[0] if r.err else ""):
                took[w][m[1]].append(float(m[2]))
            seen[w] += bool(re.search(r" [1-9]\d* of them steered", r.err))
    for what in took["plain"]:
        base = took["plain"][what]
        for w in names:
            t = took[w][what]
            if t:
                q = quartiles(t)
                d = statistics.median([b - a for a, b in zip(base, t)])
                say(f"e start {w:13} {what:20} least {q[0]:8.2f} quartiles {q[1]:8.2f} {q[2]:8.2f} {q[3]:8.2f} ms  median difference"
                    f" {d:+7.2f}  of {len(t)}, steered in {seen[w]}")


# ---- b and c: all programs ---------------------------------------------------------------------------------------

def counted(path, pid):
    """Of all processes, and of the first, which heddle tells of: kernels, failed ones, graphs."""
    all_, own = [0, 0, 0], [0, 0, 0]
    for f in path.parent.glob(path.name + ".*"):
        words = [int(n) for n in f.read_text().split()]
        all_ = [a + b for a, b in zip(all_, words)]
        if f.name == f"{path.name}.{pid}":
            own = words
    return all_, own


class Programs:
    """Programs under all ways, against two plain runs."""

    def __init__(self, log):
        self.log, self.done = log, {}
        self.runs = self.differ = self.hung = self.skipped = 0
        self.counts, self.equal = 0, 0
        self.steered, self.why = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(collections.Counter)
        self.who = collections.defaultdict(set)
        self.lock = threading.Lock()

    def one(self, name, command, ways, limit, env=None):
        try:
            self.try_one(name, command, ways, limit, env)
        except Exception:  # a bug of this script must not end the round
            say(f"{name}: {traceback.format_exc()}")

    def try_one(self, name, command, ways, limit, env):
        folder = WORK / f"p-{name}"
        folder.mkdir()
        results, reports, count = {}, {}, None
        for way in ways:
            if left() < 8:
                with self.lock:
                    self.skipped += 1
                continue
            report = folder / f"{way}.json"
            extra = dict(env or {})
            if way == "count":
                extra.update(CUDA_INJECTION64_PATH=str(HERE / "libcount.so"), COUNT_FILE=str(folder / "cupti"))
            cwd = folder / f"cwd-{way}"
            cwd.mkdir()
            r = go(ways_of(report, folder / f"cap-{way}", True)[way] + command, limit, extra, cwd=cwd)
            results[way], reports[way] = r, read_report(report)
            if way == "count":
                count = counted(folder / "cupti", r.pid)
        shutil.rmtree(folder, ignore_errors=True)
        with self.lock:
            self.judge(name, results, reports, count)

    def judge(self, name, results, reports, count):
        plain = [results[w] for w in ("plain", "again") if w in results]
        same = lambda a, b: a.out == b.out and a.code == b.code
        stable = len(plain) == 2 and same(*plain) and not any(p.hung for p in plain)
        lines = []
        for way, r in results.items():
            if way in ("plain", "again"):
                continue
            self.runs += 1
            if r.hung:
                self.hung += 1
                lines.append(f"{name} {way} was cut off after {r.seconds:.1f} s{'' if stable else ' (plain, too, or differs)'}")
            elif not any(same(r, p) for p in plain):
                if stable:
                    self.differ += 1
                lines.append(f"{name} {way} {'DIFFERS' if stable else 'differs, as two plain runs do'}: exit {r.code} {r.out[-300:]!r} "
                             f"{r.err[-300:]!r}; plain: exit {plain[0].code if plain else '?'} {plain[0].out[-300:]!r}")
            j = reports[way]
            if way != "profile" and "launches" in j:
                self.steered[way][0] += j.get("steered", 0)
                self.steered[way][1] += j["launches"]
                for k in j.get("kernels", []):
                    why = k.get("why") or ("steered" if k.get("steered") else "steered in graphs" if k.get("nodes") else
                                           "a plan was found, and no launch came after" if k.get("speedup") else "?")
                    self.why[way][why] += 1
                    self.who[way, why].add(name)
        if count is not None and (sum(count[0]) or reports["count"].get("launches")):
            self.counts += 1
            ours = reports["count"].get("launches", 0)
            equal = any(c[0] <= ours <= c[0] + c[1] for c in count)
            self.equal += equal
            lines.append(f"{name} launches: heddle {ours} CUPTI {count[1][0]}, {count[1][1]} failed; graphs {count[1][2]}; of all its processes "
                         f"{count[0][0]}{'' if equal else '  NOT EQUAL'}")
        if not stable:
            lines.append(f"{name}: plain: {[(p.code, p.hung, p.out[-200:], p.err[-200:]) for p in plain]}")
        first = plain[0] if plain else Result(None, "", "", 0, False)
        print(f"{name} exit {first.code} ms", {w: round(r.seconds * 1e3) for w, r in results.items()}, file=self.log)
        for line in lines:
            print(line, file=self.log, flush=True)
            if "launches:" not in line or "NOT EQUAL" in line:
                say(line[:400])

    def summary(self, part):
        say(f"{part} {self.runs} runs under heddle compared, {self.differ} differ, {self.hung} cut off, {self.skipped} not begun; launches as "
            f"CUPTI counts them: {self.equal} of {self.counts} programs;",
            "; ".join(f"{w} {s} of {n} steered" for w, (s, n) in self.steered.items()))
        for way, why in self.why.items():
            if way in ("tune", "force", "agents"):
                for text, n in why.most_common(14):
                    who = "" if text == "steered" else "; of " + " ".join(sorted(self.who[way, text])[:5])
                    say(f"{part}   {way:7} {n:4} kernels: {text}{who}")


def part_bc(log_b, log_c):
    c, b = Programs(log_c), Programs(log_b)
    python_ways = ["plain", "again", "count", "run", "tune", "record", "profile"]
    ways = ["plain", "again", "count", "run", "tune", "record", "profile", "force", "agents"]
    jobs = []
    if "c" in PARTS:
        for f in ("compiled", "eager", "graph", "triton_", "jax_", "cupy_", "cupyptx", "profiled"):
            # The slow one is split, so that it does not end last.
            for part in (["plain", "again", "count"], ["plain", "again", "run", "tune"], ["plain", "again", "record", "profile"]) \
                    if f == "compiled" else (python_ways,):
                name = f"py-{f}" + (f"-{part[2]}" if f == "compiled" else "")
                jobs.append((c, name, [sys.executable, PY / f"{f}.py"], part, 75))
    if "b" in PARTS:
        out_of = {"waiting": 15, "standstill": 15}
        for p in sorted((HERE / "programs.txt").read_text().split()):
            if SMALL and p not in SMALL_PROGRAMS:
                continue
            own = ways[:4] + ["record", "profile"] if p == "together" else ways  # lacks a barrier: no plan keeps its order
            jobs.append((b, p, [BIN / p], own, out_of.get(p, 25)))
    with ThreadPoolExecutor(JOBS) as pool:
        for f in [pool.submit(j[0].one, *j[1:]) for j in jobs]:
            f.result()
    if "b" in PARTS:
        b.summary("b")
    if "c" in PARTS:
        c.summary("c")


SMALL_PROGRAMS = ("graphs", "symbols", "reduce", "driver-saxpy", "driver-modules", "endings", "plugin")

# ---- m: a fill that runs while its memory is unmapped ----


def part_m(log):
    """Whether the program is at fault without heddle, too: 40 runs of each, at once."""
    found = collections.Counter()

    def one(program, way, k):
        report = WORK / f"m-{program}-{way}-{k}.json"
        r = go(ways_of(report, WORK / f"m-{program}-{way}-{k}-cap", True)[way] + [BIN / program], 20)
        print(program, way, k, r.code, r.out.strip(), r.err.strip()[-200:], file=log, flush=True)
        with lock:
            found[program, way, "right" if r.code == 0 else "cut off" if r.hung else r.out.strip()[-60:] or f"exit {r.code}"] += 1

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda x: one(*x), [(p, w, k) for k in range(2 if SMALL else 40) for p in ("mapping-unsynced", "driver-mapping")
                                          for w in ("plain", "profile")]))
    for (program, way, what), n in sorted(found.items()):
        say(f"m {program:17} {way:8} {n:3}: {what}")


# ---- f: recorded kernels -----------------------------------------------------------------------------------------


def part_f(log):
    cap = WORK / "cap"
    cache = WORK / "f"
    cache.mkdir()
    r = go([HEDDLE, "record", "-o", cap, "--most", "10", "--", BIN / "ten"], 60, cache=cache)
    print("record", r, file=log, flush=True)
    folders = sorted(cap.glob("*/")) if cap.exists() else []
    folders = [f for f in folders if (f / "workload.toml").exists()]
    waited = [(float(m[1]), float(m[2]), float(m[3])) for m in re.finditer(r"([\d.]+) MB, which took ([\d.]+) ms, ([\d.]+) of them", r.err)]
    say(f"f record: exit {r.code}, {r.out.strip()!r}, {len(folders)} workloads, {sum(w[0] for w in waited):.1f} MB, held "
        f"{sum(w[1] for w in waited):.1f} ms, {sum(w[2] for w in waited):.1f} of them to copy; {r.seconds:.1f} s")
    results = collections.defaultdict(dict)

    def one(folder, what):
        device = ["--device", "model:h100"] if PREFIX else ["--device", "cuda:0"]
        command = {"check": [HEDDLE, "check", folder, "--plan", "order=reverse"],
                   "agents": [HEDDLE, "check", folder, "--plan", "bind=agents"],
                   "analyze": [HEDDLE, "analyze", folder],
                   "tune": [HEDDLE, "tune", folder, "--budget", "2", "--shared", *device]}[what]
        r = go(command, 45, cache=cache, bare=True)
        results[folder.name][what] = r
        print(folder.name, what, r.code, f"{r.seconds:.1f} s", "CUT OFF" if r.hung else "", r.out, r.err[-500:], file=log, flush=True)

    with ThreadPoolExecutor(JOBS if not PREFIX else 1) as pool:
        list(pool.map(lambda x: one(*x), [(f, w) for w in ("check", "agents", "analyze") for f in folders[:2 if SMALL else 10]]))
    for f in folders[:1 if SMALL else 10]:
        if left() > 6:
            one(f, "tune")
    for name, r in sorted(results.items()):
        last = [line for line in r["tune"].out.splitlines() if line.strip()][-1:] if "tune" in r else []
        say(f"f {name:24}", " ".join(f"{w} {'cut off' if x.hung else 'exit ' + str(x.code)} {x.seconds:.1f} s" for w, x in r.items()), *last)
    r = go([HEDDLE, "run", "--", BIN / "ten"], 30, cache=cache)
    say(f"f run with these verdicts: exit {r.code} {r.out.strip()!r}", re.sub(r"\s+", " ", r.err)[:900])


# ---- t: other tools ----------------------------------------------------------------------------------------------

def part_t(log):
    tools = {"memcheck": ["compute-sanitizer", "--tool", "memcheck"], "racecheck": ["compute-sanitizer", "--tool", "racecheck"],
             "ncu": ["ncu", "--clock-control", "none", "--metrics", "gpu__time_duration.sum"]}
    for name in ("matmul", "graphs"):
        plain = go([BIN / name], 20)
        for tool, words in tools.items():
            ways = {"alone": words}
            for plan in ("order=reverse", "bind=agents"):
                run = [HEDDLE, "run", "--quiet", "--force-plan", plan, "--"]
                ways[f"around heddle run, {plan}"] = words + ["--target-processes", "all"] + run
                ways[f"within heddle run, {plan}"] = run + words
            for way, prefix in ways.items():
                told = WORK / "told"
                at = prefix.index(words[0]) + 1
                r = go(prefix[:at] + ["--log-file", told] + prefix[at:] + [BIN / name], 60)
                text = told.read_text(errors="replace") if told.exists() else ""
                told.unlink(missing_ok=True)
                found = f"{text.count('gpu__time_duration')} kernels" if tool == "ncu" else (text.strip().splitlines() or ["nothing"])[-1]
                say(f"t {name} {tool} {way}: exit {r.code}, output {'as plain' if r.out == plain.out else 'DIFFERS'}, {found.strip('= ')}")
                print(name, tool, way, r, text, file=log, flush=True)


# ---- all ---------------------------------------------------------------------------------------------------------

def main():
    with tarfile.open(HERE / "programs.tar.xz") as t:
        t.extractall(WORK)
    say("programs unpacked; parts", PARTS, "limit", LIMIT, "at once", JOBS, "work", WORK)
    r = go([HEDDLE, "--version"], 20)
    say("heddle", r.code, r.out.strip(), r.err.strip()[:200])
    parts = {"a": (part_a, ["a"]), "d": (part_d, ["d"]), "e": (part_e, ["e"]), "b": (part_bc, ["b", "c"]), "m": (part_m, ["m"]), "f": (part_f, ["f"]),
             "t": (part_t, ["t"])}
    for part, (function, files) in parts.items():
        if part not in PARTS and not (part == "b" and "c" in PARTS):
            continue
        if left() < 10:
            say(part, "is not begun: no time left")
            continue
        logs = [open(FOLDER / f"part-{f}.txt", "w", encoding="utf-8") for f in files]
        begin = time.monotonic()
        try:
            function(*logs)
        except Exception:
            say(part, "failed:", traceback.format_exc())
        for log in logs:
            log.close()
        say(f"part {'b and c' if part == 'b' else part} took {time.monotonic() - begin:.0f} s")
    shutil.rmtree(WORK, ignore_errors=True)
    say("done")
    sys.stdout.flush()
    os._exit(0)  # a thread may wait for a process that cannot be killed


main()

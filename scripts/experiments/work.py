"""Predictions found, several at a time; how long they take.

Those of lower ranks come first, and with them what their values lead to. In a rank the longest come first, which ends soonest, or the shortest where there is not
the time for all: most rows of the tables are then made."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from .model import ROOT

PIECE = 120  # core-seconds of one command, about: what a run that is cut off loses; each has the default, too
ANEW = 15  # seconds until requests are collected again: what is found may lead to some of lower ranks than those that wait
UNKNOWN = 20  # core-seconds of a prediction of which nothing is known


class Work:
    def __init__(self, model, heddle, jobs, seconds, shard=(1, 1)):
        self.model, self.heddle, self.jobs, self.shard = model, heddle, jobs, shard
        self.end = time.monotonic() + seconds if seconds else None
        self.env = dict(os.environ)
        self.env.setdefault("HEDDLE_DATA", ROOT)
        self.capacity, self.shortest = seconds * jobs, False  # core-seconds
        self.spent, self.failed, self.children = 0.0, {}, set()
        with open(os.path.join(os.path.dirname(__file__), "seconds.json")) as f:
            self.took = json.load(f)
        self.took.update(model.kept("seconds"))

    def estimate(self, request):
        """Core-seconds: those that the workload at this size took before, for each plan; a sweep has the default, too."""
        each = self.took.get(request.what)
        runs = len(request.plans) + ("baseline" not in request.plans)
        return (UNKNOWN if each is None else each) * runs

    def pieces(self, requests):
        """The requests, cut so that a piece takes about PIECE."""
        out = []
        for r in requests:
            n = max(1, round(self.estimate(r) / PIECE))
            n, plans = min(n, len(r.plans)) if r.apart else 1, len(r.plans)
            out += [r._replace(plans=r.plans[i * plans // n:(i + 1) * plans // n]) for i in range(n)]
        return out

    def over(self):
        return self.end is not None and time.monotonic() > self.end

    def run(self, request):
        """The command's values and its core-seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            command = [self.heddle] + request.command
            if request.plans:
                with open(path("plans"), "w") as f:
                    f.write("\n".join(request.plans) + "\n")
                command += ["--plans", "@" + path("plans"), "--threads", "1"]
            with open(path("out"), "w+") as out, open(path("err"), "w+") as err:
                child = subprocess.Popen(command, stdout=out, stderr=err, env=self.env)
                self.children.add(child.pid)
                _, status, usage = os.wait4(child.pid, 0)
                self.children.discard(child.pid)
                child.returncode = os.waitstatus_to_exitcode(status)
                out.seek(0)
                err.seek(0)
                if child.returncode:
                    raise RuntimeError(err.read().strip() or f"exit code {child.returncode}")
                return request.read(out.read(), request.plans), usage.ru_utime + usage.ru_stime

    def finish(self, future, request):
        try:
            values, seconds = future.result()
        except (RuntimeError, ValueError, OSError) as e:
            if not self.over():
                print(f"heddle {' '.join(request.command)}: {e}", file=sys.stderr, flush=True)
                self.failed[request.label] = str(e)
            return
        self.spent += seconds
        self.model.keep(request.label, values)
        each = seconds / (len([p for p in request.plans if p != "baseline"]) + 1)
        self.took[request.what] = round(each, 2)
        self.model.keep("seconds", {request.what: round(each, 2)})
        print(f"{seconds:7.1f} s  {request.label}" + (f": {len(request.plans)} plans" if request.plans else ""),
              file=sys.stderr, flush=True)

    def order(self, request):
        return request.rank, self.estimate(request) * (1 if self.shortest else -1)

    def left(self, requests):
        """How many predictions, and core-seconds."""
        requests = self.new(requests, set())
        return sum(max(1, len(r.plans)) for r in requests), sum(self.estimate(r) for r in requests)

    def report(self, requests):
        """What is left, before it starts."""
        n, seconds = self.left(requests)
        self.shortest = 0 < self.capacity < seconds
        unknown, _ = self.left(r for r in requests if r.what not in self.took)
        print(f"{n} predictions to make: about {seconds / 3600:.2f} core-hours, {seconds / self.jobs / 60:.0f} minutes with "
              f"{self.jobs} at a time" + (f" ({unknown} of them never timed, taken for {UNKNOWN} s each)" if unknown else ""),
              file=sys.stderr, flush=True)

    def take(self, queue):
        """The first that can end in time."""
        left = self.end - time.monotonic() if self.end is not None else None
        at = next((i for i, r in enumerate(queue) if left is None or self.estimate(r) < left), None)
        return queue.pop(at) if at is not None else None

    def stop(self):
        for pid in list(self.children):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass  # it has just ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()  # those under way, where an interrupt ends the run

    def mine(self, label):
        """A label's predictions are one file, and so of one part."""
        part, parts = self.shard
        return zlib.crc32(label.encode()) % parts == part - 1

    def new(self, requests, begun):
        """Those of this part that were not begun, which they are from now on, one for each label and rank: begun has (label,
        plan)."""
        out = {}
        for r in sorted(requests, key=lambda r: r.rank):
            items = tuple(i for i in r.plans or (None,) if (r.label, i) not in begun)
            if not items or r.label in self.failed or not self.mine(r.label):
                continue
            begun.update((r.label, i) for i in items)
            key = r.label, r.rank
            if key not in out:
                out[key] = r._replace(plans=())
            if r.plans:
                out[key] = out[key]._replace(plans=out[key].plans + items)
        return list(out.values())

    def all(self, collect):
        """collect() gives requests; what they find leads to others, until it gives none that are new."""
        queue, running, begun, shown, asked = [], {}, set(), 0.0, 0.0
        with ThreadPoolExecutor(self.jobs) as pool, self:
            while True:
                if len(queue) < self.jobs or time.monotonic() - asked > ANEW:
                    asked = time.monotonic()
                    queue = sorted(queue + self.pieces(self.new(collect(), begun)), key=self.order)
                while len(running) < self.jobs:
                    request = self.take(queue)
                    if not request:
                        break
                    running[pool.submit(self.run, request)] = request
                if not running:
                    return
                left = None if self.end is None else max(0.2, self.end - time.monotonic())
                done, _ = wait(running, left, FIRST_COMPLETED)
                for future in done:
                    self.finish(future, running.pop(future))
                if self.over():
                    self.stop()
                    queue = []
                elif time.monotonic() - shown > 60:
                    shown = time.monotonic()
                    rest = sum(self.estimate(r) for r in queue) + sum(self.estimate(r) for r in running.values())
                    print(f"about {rest / self.jobs / 60:.0f} minutes left", file=sys.stderr, flush=True)

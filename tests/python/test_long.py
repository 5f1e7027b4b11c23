"""What takes long: ended by Ctrl-C, said how far it is; and programs in processes of their own."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import heddle
from test_heddle import ADD


class LongWork(unittest.TestCase):
    def act(self, name, progress=None):
        w = heddle.Workload("matmul-naive", size="paper")
        w.ptx()
        {
            "check": lambda: w.check("order=col", reference=False, progress=progress),
            "optimize": lambda: w.optimize(exact=True, progress=progress),
            "sweep": lambda: w.sweep(exact=True, progress=progress),
            "study": lambda: w.study(),
            "tune": lambda: w.tune(device="model:h100", store="none", progress=progress),
        }[name]()

    def test_ctrl_c_ends_it(self):
        for name in ("check", "optimize", "sweep", "study", "tune"):
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.subTest(name=name), self.assertRaises(KeyboardInterrupt):
                self.act(name)
            timer.join()

    def test_what_progress_raises_ends_it(self):
        def fail(stage, done, n):
            raise ZeroDivisionError(stage)

        for name in ("check", "optimize", "sweep", "tune"):
            with self.subTest(name=name), self.assertRaises(ZeroDivisionError):
                self.act(name, fail)

    def test_progress_counts_to_its_end(self):
        seen = []
        heddle.Workload("copy-col", size="tiny").check("order=col", progress=lambda *a: seen.append(a))
        self.assertEqual({a[0] for a in seen}, {"checking"})
        self.assertEqual(seen[-1][1], seen[-1][2])

    def test_other_threads_run_meanwhile(self):
        def run():  # which ends the call, if it gets to its end before that
            for _ in range(5):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=run)
        with self.assertRaises(KeyboardInterrupt):
            thread.start()
            self.act("check")
        thread.join()

    def test_exceptions_travel_between_processes(self):
        with self.assertRaises(heddle.InputError) as e:
            heddle.Plan("order=nowhere")
        again = pickle.loads(pickle.dumps(e.exception))
        self.assertEqual((type(again), again.column), (heddle.InputError, 7))


class Programs(unittest.TestCase):
    """A program of Python's own, on the emulator."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ptx = Path(self.folder.name, "add.ptx")
        self.ptx.write_text(ADD)
        program = Path(__file__).parent / "program.py"
        self.argv = [sys.executable, str(program), str(self.ptx), "add", "5"]
        try:
            heddle.emu([sys.executable, "-c", "pass"])
        except heddle.SystemError as e:
            if "cannot find libheddle" not in str(e):
                raise
            self.skipTest(str(e))

    def test_a_program_runs_under_a_plan(self):
        r = heddle.run(self.argv, force_plan="order=col", emulate="h100")
        self.assertEqual((r.code, r.kernels[0]["plan"], r.kernels[0]["steered"]), (0, "order=col", 5))
        self.assertIn("program.py", r.title)
        self.assertIn("<html", r.html)

    def test_a_program_has_the_signals_of_a_shell(self):
        found = Path(self.folder.name, "status")
        heddle.emu(["/bin/sh", "-c", f"grep SigIgn /proc/self/status >'{found}'"])
        ignored = int(found.read_text().split()[1], 16)
        for s in (signal.SIGPIPE, signal.SIGXFSZ):
            self.assertFalse(ignored >> (s - 1) & 1, s)

    def test_its_launches_become_workloads(self):
        r = heddle.record(self.argv, Path(self.folder.name, "mine"), kernel="ad*", emulate="h100")
        self.assertEqual([p.name for p in r.paths], ["add-1"])
        self.assertTrue(heddle.Workload(r.paths[0]).check("order=col"))

    def test_it_is_profiled_and_optimized(self):
        stages = []
        p = heddle.profile(self.argv, emulate="h100", progress=lambda stage, done, n: stages.append(stage))
        self.assertEqual((p.code, [k["kernel"] for k in p.kernels]), (0, ["add"]))
        self.assertIn("looking into kernels", stages)
        out = Path(self.folder.name, "out")
        o = heddle.optimize(self.argv, folder=out, budget=10)
        self.assertEqual(o.kernels[0]["title"], "add")
        self.assertTrue((out / "index.html").exists())
        self.assertEqual(o.plans, {})

    def test_it_is_checked(self):
        e = heddle.emu(self.argv, check="leak")
        self.assertEqual(e.code, 0)
        self.assertIn("leak", json.dumps(e.findings))

    def test_failures_come_back_as_exceptions(self):
        with self.assertRaisesRegex(heddle.SystemError, "no-such-program"):
            heddle.run(["no-such-program"])
        with self.assertRaisesRegex(heddle.InputError, "loaded no kernel"):
            heddle.optimize([sys.executable, "-c", "pass"], folder=self.folder.name)
        with self.assertRaises(heddle.InputError):
            heddle.run(self.argv, force_plan="order=nowhere")
        with self.assertRaises(TypeError):
            heddle.run("./app")
        self.assertEqual(heddle.run([sys.executable, "-c", "raise SystemExit(7)"]).code, 7)

    def test_it_ends_with_python(self):
        waiting = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
        for call in ("run([sys.executable, '-c', program])", "profile([sys.executable, '-c', program])"):
            script = f"import heddle, sys; program = {waiting!r}; heddle.{call}"
            with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as python:
                pid = int(python.stdout.readline())
                python.kill()
            until = time.monotonic() + 30
            while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1]:
                self.assertLess(time.monotonic(), until, call)
                time.sleep(0.05)

    def test_ctrl_c_ends_the_program(self):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            heddle.run([sys.executable, "-c", "import time; time.sleep(60)"])
        self.assertLess(time.monotonic() - begin, 50)


if __name__ == "__main__":
    unittest.main()

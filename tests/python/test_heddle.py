"""The Python package, against what the library's own tests hold for true."""

import doctest
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import heddle

ADD = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mad.lo.u32 %r3, %r2, 7, %r1;
  mad.wide.u32 %rd2, %r3, 4, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""


class Plans(unittest.TestCase):
    def test_a_plan_is_canonical_and_compares_by_what_it_does(self):
        p = heddle.Plan("bind=agents,order=col")
        self.assertEqual(str(p), "order=col,bind=agents")
        self.assertEqual(p, heddle.Plan("order=col,bind=agents"))
        self.assertEqual(len({p, heddle.Plan(p)}), 1)
        self.assertEqual(eval(repr(p), {"Plan": heddle.Plan}), p)
        self.assertTrue(p)
        self.assertFalse(heddle.Plan())

    def test_a_plan_that_is_none_names_the_column(self):
        with self.assertRaises(heddle.InputError) as e:
            heddle.Plan("order=col,order=row")
        self.assertEqual(e.exception.column, 11)
        self.assertIn("the lever order is given twice", e.exception.message)
        self.assertIsInstance(e.exception, heddle.Error)

    def test_wrong_types_are_type_errors(self):
        for wrong in (3, b"order=col", ["order=col"]):
            with self.assertRaises(TypeError):
                heddle.Plan(wrong)


class Kernels(unittest.TestCase):
    def test_a_kernel_is_rewritten_and_says_how_it_is_launched(self):
        r = heddle.rewrite(ADD, "order=col", grid=(7, 3))
        self.assertIn(".entry add", str(r))
        self.assertNotEqual(r.ptx, heddle.rewrite(ADD, "baseline").ptx)
        self.assertEqual(r.launch, "")
        agents = heddle.rewrite(ADD, "bind=agents", sms=132)
        self.assertIn("add", agents.launch)
        self.assertEqual(agents.launch, heddle.rewrite(ADD, "bind=agents").launch)
        self.assertTrue(all(line.startswith("//") for line in agents.launch.splitlines() if line))

    def test_each_error_is_an_exception_with_its_place(self):
        cases = [
            (heddle.InputError, lambda: heddle.rewrite(ADD.replace("mad.lo", "mad..lo"), "order=col")),
            (heddle.RefusedError, lambda: heddle.rewrite(ADD.replace("%ctaid.y", "%smid"), "order=col")),
            (heddle.UsageError, lambda: heddle.rewrite(ADD, "order=col", kernel="sub")),
            (heddle.InputError, lambda: heddle.rewrite(ADD, "order=somewhere")),
            (ValueError, lambda: heddle.rewrite(ADD, "bind=agents", sms=1 << 33)),
            (ValueError, lambda: heddle.rewrite(ADD, "bind=agents", sms=1 << 70)),
            (ValueError, lambda: heddle.rewrite(ADD, "bind=agents", sms=-1)),
            (heddle.Error, lambda: heddle.rewrite(ADD, "bind=agents", sms=10**9)),
            (TypeError, lambda: heddle.rewrite(ADD, "bind=agents", sms=1.5)),
            (ValueError, lambda: heddle.rewrite(ADD, "order=col", grid=())),
            (ValueError, lambda: heddle.rewrite(ADD, "order=col", grid=(1, 2, 3, 4))),
            (ValueError, lambda: heddle.rewrite(ADD, "order=col", grid=(0,))),
            (ValueError, lambda: heddle.rewrite(ADD, "order=col", assume="luck")),
            (OverflowError, lambda: heddle.rewrite(ADD, "order=col", grid=-1)),
        ]
        for kind, act in cases:
            with self.subTest(kind=kind), self.assertRaises(kind):
                act()

    def test_malformed_text_is_named_with_its_line(self):
        with self.assertRaises(heddle.InputError) as e:
            heddle.analyze(ADD.replace("ret;", "ret"))
        self.assertEqual((e.exception.line, e.exception.file), (15, "<ptx>"))

    def test_an_analysis_lists_accesses(self):
        a = heddle.analyze(ADD, grid=(7, 3), block=32)
        self.assertIn("add", json.dumps(a))
        with self.assertRaises(heddle.UsageError):
            heddle.analyze(ADD, kernel="sub")


class Workloads(unittest.TestCase):
    def test_names_are_listed(self):
        self.assertIn("matmul-naive", heddle.workloads())
        self.assertIn("h100", heddle.gpus())

    def test_a_workload_describes_itself(self):
        w = heddle.Workload("matmul-naive", size="tiny")
        self.assertEqual(w.size, "tiny")
        self.assertIn("small", w.sizes)
        kernel, grid, block = w.launches[0]
        self.assertTrue(all(n >= 1 for n in grid + block))
        self.assertIn(kernel, w.ptx())
        name, value = next(iter(w.params.items()))
        self.assertEqual(heddle.Workload("matmul-naive", size="tiny", params={name: value}).params, w.params)

    def test_an_unknown_name_or_size_is_a_usage_error(self):
        for make in (
            lambda: heddle.Workload("no-such-workload"),
            lambda: heddle.Workload("matmul-naive", size="huge"),
            lambda: heddle.Workload("matmul-naive", params={"nothing": 3}),
            lambda: heddle.Workload("matmul-naive", size="tiny").study("no-such-gpu"),
        ):
            with self.assertRaises(heddle.Error):
                make()

    def test_a_proof_is_true_where_results_are_equal(self):
        c = heddle.Workload("copy-col", size="tiny").check("order=reverse")
        self.assertTrue(c)
        self.assertGreater(c.details["bytes_compared"], 0)

    def test_a_file_is_a_workload_by_the_words_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "add.ptx"
            path.write_text(ADD)
            w = heddle.Workload(path, kernel="add", grid=(7, 3), block=1, arg="u32[21]=zero")
            self.assertEqual(w.launches, [("add", (7, 3, 1), (1, 1, 1))])
            self.assertTrue(w.check("order=col"))

    def test_a_simulation_and_a_sweep_agree(self):
        s = heddle.Workload("matmul-naive", size="tiny").study("gtx980")
        columns = s.sweep(["order=col", heddle.Plan("order=reverse")])
        self.assertEqual(columns["plan"], ["baseline", "order=col", "order=reverse"])
        self.assertEqual(len({len(c) for c in columns.values()}), 1)
        one = s.simulate("order=col")
        self.assertIn("order=col", json.dumps(one))

    def test_a_plan_that_failed_has_no_time_in_a_sweep_but_a_reason(self):
        columns = heddle.Workload("matmul-naive", size="tiny").study("gtx980").sweep(["order=table:none"])
        self.assertTrue(math.isnan(columns["time_us"][1]))
        self.assertFalse(math.isnan(columns["time_us"][0]))
        self.assertIn("cannot open", columns["why"][1])

    def test_an_optimization_gives_a_proved_kernel_or_none(self):
        o = heddle.Workload("matmul-naive", size="tiny").optimize(gpu="gtx980", seconds=5)
        self.assertEqual(o.ptx is None, not o.plan)

    def test_threads_share_a_workload(self):
        w = heddle.Workload("copy-col", size="tiny")
        results = []
        threads = [
            threading.Thread(target=lambda p: results.append(bool(w.check(p, threads=1))), args=(p,))
            for p in ("order=col", "order=reverse", "baseline", "bind=agents") * 3
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, [True] * 12)

    def test_objects_live_as_long_as_they_are_used(self):
        s = heddle.Workload("copy-col", size="tiny").study("gtx980")
        import gc

        gc.collect()
        self.assertTrue(s.simulate())
        with self.assertRaises((TypeError, ValueError)):
            heddle._heddle.simulate(s.workload._handle, "baseline", 0)


class Documentation(unittest.TestCase):
    def test_examples_in_doc_strings_hold(self):
        for module in (heddle, heddle._kernels, heddle._workloads):
            failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
            self.assertEqual(failed, 0, module)

    def test_the_page_on_the_package_runs(self):
        page = Path(os.environ.get("HEDDLE_DATA", "nowhere"), "docs/python.md")
        if not page.exists():
            self.skipTest("installed without docs/")
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)
        names = {"ptx": ADD, "heddle": heddle}
        with tempfile.TemporaryDirectory() as folder:
            saxpy = ADD.replace("entry add(.param .u64 p)", "entry saxpy(.param .u64 p, .param .u64 q, .param .f32 a)")
            app = Path(folder, "app")
            app.write_text(saxpy.replace("ld.param.u64 %rd1, [p]", "ld.param.u64 %rd1, [q]"))
            for block in blocks:
                if "heddle.triton" not in block:  # which needs Triton
                    exec(block.replace('size="small"', 'size="tiny"').replace('"app"', repr(str(app))), names)
            self.assertTrue(names["mine"].check("order=reverse").equal)

    def test_one_list_has_the_plans_of_a_launch(self):
        def plans(grid, widths=()):
            return heddle._heddle.candidates(ADD, "add", grid, 32, widths)

        self.assertIn("order=band:8", plans((64, 64))[:5])
        self.assertFalse([p for p in plans((64, 64)) if "bind=" in p])
        tiled = plans((128,), [16])
        self.assertIn("order=band:4,shape=16x8", tiled)
        self.assertIn("order=reverse", tiled)
        self.assertEqual(len(tiled), len(set(tiled)))
        self.assertEqual(plans((128,), [7]), plans((128,)))
        with self.assertRaises(heddle.InputError):
            heddle._heddle.candidates(ADD, "other", 8, 32, [])

    def test_verdicts_go_by_keys_that_the_library_makes(self):
        self.assertEqual(heddle._heddle.verdict_place("NVIDIA H100", 13010), ("NVIDIA H100", "13.1"))
        self.assertEqual(heddle._heddle.verdict_grid(64, 2, 1), "triton grid=64x2x1")
        with tempfile.TemporaryDirectory() as folder:
            store, key = os.path.join(folder, "s.db"), ("0" * 32, "triton grid=8x1x1", "GPU", "13.0")
            heddle._heddle.put_verdict(store, *key, "k", "order=col", 2.0, 1.9, 2.1, 10.0, 5.0, 7, 41)
            self.assertEqual(heddle._heddle.get_verdict(store, *key), ("order=col", 2.0, 1.9, 2.1))


class Contests(unittest.TestCase):
    """A bench whose launches take as long as it says."""

    us = {"order=col": 70, "order=reverse": 90, "order=hilbert": 50}

    def setUp(self):
        self.made, self.announced, self.fails = [], [], "nothing"

    def make(self, plan):
        self.made.append(plan)
        return None if plan == "order=band:8" else plan

    def run_one(self, variant, check):
        if variant == self.fails:
            raise KeyError("gone")
        return self.us.get(variant, 100) * 1e-6, variant != "order=hilbert"

    def hold(self, seconds=0.5, ahead=None):
        class Bench:
            make, run = self.make, self.run_one

        Bench.ahead = ahead or self.announced.extend
        return heddle._heddle.contest(Bench, ADD, "add", (64, 64), 32, [], seconds, 1.01, 0)

    def test_the_fastest_plan_that_is_right_wins(self):
        won, plan, variant, speedup, low, high, before, after, pairs, tried = self.hold()
        self.assertEqual((won, plan, variant), (True, "order=col", "order=col"))
        self.assertAlmostEqual(speedup, 100 / 70, places=5)
        self.assertTrue(1.01 < low <= speedup <= high and 8 <= pairs and tried > 10)
        self.assertAlmostEqual(before / after, 100 / 70, places=5)
        self.assertLessEqual({"order=band:8", "order=hilbert"}, set(self.made))
        self.assertFalse([p for p in self.made if "bind=" in p])
        self.assertIn("order=col", self.announced)

    def test_equals_do_not_win(self):
        self.us = {}
        self.assertEqual(self.hold()[0], False)

    def test_what_the_bench_raises_goes_on(self):
        self.fails = "order=reverse"
        with self.assertRaises(KeyError):
            self.hold()

    def test_what_is_raised_ahead_goes_on(self):
        with self.assertRaises(TypeError):
            self.hold(ahead=lambda: None)

    def test_no_time_is_a_budget_error(self):
        with self.assertRaises(heddle.BudgetError):
            self.hold(seconds=0.0)


class Stubs(unittest.TestCase):
    def test_stubs_name_what_the_module_has(self):
        stubs = (Path(heddle.__file__).parent / "_heddle.pyi").read_text()
        for name in dir(heddle._heddle):
            if not name.startswith("_"):
                self.assertRegex(stubs, rf"(def|class) {name}\b")


if __name__ == "__main__":
    unittest.main()

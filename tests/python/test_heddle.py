"""The Python package, against what the library's own tests hold for true."""

import array
import contextlib
import doctest
import importlib.util
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
from heddle._arguments import as_array

DATA = Path(__file__).resolve().parents[1] / "cli/data"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

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
            (heddle.NotFoundError, lambda: heddle.rewrite(ADD, "order=col", kernel="sub")),
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
        self.assertIn("add", json.dumps(a.details))
        self.assertEqual(a.kernels[0]["kernel"], "add")
        with self.assertRaises(heddle.NotFoundError) as e:
            heddle.analyze(ADD, kernel="sub")
        self.assertIn("there is add", e.exception.message)

    def test_of_several_modules_one_must_be_meant(self):
        with tempfile.TemporaryDirectory() as folder:
            file, text = Path(folder, "app.fatbin"), Path(folder, "add.ptx")
            text.write_text(ADD.replace("add", "sub"))
            Path(folder, "other.ptx").write_text(ADD)
            made = [DATA / "fatbin", "1", "70", text, "1", "70", Path(folder, "other.ptx")]
            file.write_bytes(subprocess.run(made, check=True, capture_output=True).stdout)
            with self.assertRaisesRegex(heddle.UsageError, "2 modules"):
                heddle.analyze(file)
            self.assertEqual([k["kernel"] for k in heddle.analyze(file, kernel="add").kernels], ["add"])

    def test_names_are_plain_ones_or_patterns(self):
        text = (EXAMPLES / "own/kernels.ptx").read_text()
        for name in ("convolve", "_Z8convolvePKfPfi", "conv*", "convolve(float const*, float*, int)"):
            self.assertEqual(len(heddle.analyze(text, kernel=name).kernels), 1, name)
            self.assertNotEqual(heddle.rewrite(text, "order=col", kernel=name).ptx, text)

    def test_a_refusal_has_its_line_and_its_reason(self):
        text = ADD.replace("%ctaid.y", "%smid")
        with self.assertRaises(heddle.RefusedError) as e:
            heddle.rewrite(text, "order=col")
        self.assertIn("%smid", text.splitlines()[e.exception.line - 1])
        self.assertIn(f"line {e.exception.line}: ", e.exception.message)
        self.assertTrue(e.exception.message.endswith(e.exception.reason))
        self.assertNotIn("%smid", e.exception.reason)


class Workloads(unittest.TestCase):
    def test_names_are_listed(self):
        self.assertIn("matmul-naive", heddle.workloads())
        self.assertIn("h100", heddle.gpus())

    def test_a_workload_describes_itself(self):
        w = heddle.Workload("matmul-naive", size="tiny")
        self.assertEqual(w.size, "tiny")
        self.assertIn("small", w.sizes)
        launch = w.launches[0]
        self.assertTrue(all(n >= 1 for n in launch.grid + launch.block))
        self.assertIn(launch.kernel, w.ptx())
        name, value = next(iter(w.params.items()))
        self.assertEqual(heddle.Workload("matmul-naive", size="tiny", params={name: value}).params, w.params)

    def test_what_an_unknown_name_is_of_is_not_found(self):
        for make in (
            lambda: heddle.Workload("no-such-workload"),
            lambda: heddle.Workload("matmul-naive", size="huge"),
            lambda: heddle.Workload("matmul-naive", params={"nothing": 3}),
            lambda: heddle.Workload("matmul-naive", size="tiny").study("no-such-gpu"),
        ):
            with self.assertRaises(heddle.NotFoundError) as e:
                make()
            self.assertIsInstance(e.exception, LookupError)
            self.assertIsInstance(e.exception, heddle.UsageError)

    def test_a_proof_is_true_where_results_are_equal(self):
        c = heddle.Workload("copy-col", size="tiny").check("order=reverse")
        self.assertTrue(c)
        self.assertGreater(c.details["bytes_compared"], 0)

    def test_a_file_is_a_workload_by_the_words_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "add.ptx"
            path.write_text(ADD)
            w = heddle.Workload(path, kernel="add", grid=(7, 3), block=1, args=["u32[21]=zero"])
            self.assertEqual(w.launches, [heddle.LaunchInfo("add", (7, 3, 1), (1, 1, 1))])
            self.assertTrue(w.check("order=col"))

    def test_a_simulation_and_a_sweep_agree(self):
        s = heddle.Workload("matmul-naive", size="tiny").study("gtx980")
        columns = s.sweep(["order=col", heddle.Plan("order=reverse")])
        self.assertEqual(columns["plan"], ["baseline", "order=col", "order=reverse"])
        self.assertEqual(len({len(c) for c in columns.values()}), 1)
        one = s.simulate("order=col")
        self.assertIn("order=col", json.dumps(one))

    def test_without_a_clock_a_sweep_ranks_by_traffic_and_has_no_times(self):
        study = heddle.Workload("matmul-naive", size="tiny").study("gtx980", depth="traffic")
        sweep = study.sweep(["order=col"])
        self.assertTrue(all(math.isnan(t) for t in sweep["time_us"] + sweep["speedup"]))
        self.assertEqual(sweep.best, heddle.Plan(sweep["plan"][sweep["traffic"].index(min(sweep["traffic"]))]))
        self.assertTrue(math.isnan(sweep.speedup))
        self.assertNotIn("time_us", study.simulate("order=col"))

    def test_a_plan_that_failed_has_no_time_in_a_sweep_but_a_reason(self):
        columns = heddle.Workload("matmul-naive", size="tiny").study("gtx980").sweep(["order=table:none"])
        self.assertTrue(math.isnan(columns["time_us"][1]))
        self.assertFalse(math.isnan(columns["time_us"][0]))
        self.assertIn("cannot open", columns["why"][1])

    def test_an_optimization_gives_a_proved_kernel_or_none(self):
        for name, helps in (("matmul-naive", False), ("transpose-swapped", True)):
            o = heddle.Workload(name, size="tiny").optimize(gpu="gtx980", budget=5)
            self.assertEqual((o.ptx is None, bool(o.plan), o.proved, bool(o)), (not helps, helps, helps, helps), name)
            self.assertEqual(o.speedup > 1, helps)
            self.assertEqual(o.why == "", helps)
            self.assertIn(heddle.Plan("order=col"), o.tried)
            self.assertLess(len(repr(o)), 500)

    def test_no_answer_has_what_was_tried(self):
        with self.assertRaises(heddle.NoAnswerError) as e:
            heddle.Workload("matmul-naive", size="tiny").optimize(gpu="gtx980", wall=1e-9)
        self.assertEqual((e.exception.tried, e.exception.result.plan), ([], heddle.Plan()))
        self.assertIsInstance(e.exception, heddle.BudgetError)

    def test_a_result_is_shown_as_the_commands_page_and_saved_as_its_files(self):
        w = heddle.Workload("transpose-swapped", size="tiny")
        o = w.optimize(gpu="gtx980", budget=5)
        results = [o, w.check(), w.analyze(static=True), w.tune(device="model:gtx980", store="none", budget=1)]
        for r in results:
            self.assertIn("<!doctype html>", r.html[:100].lower())
            self.assertTrue(r._repr_html_().startswith("<iframe srcdoc="))
            self.assertEqual(type(r)(**{"details": r.details}).details, r.details)
        self.assertIn("srcdoc=", w.sweep(["order=col"], gpu="gtx980")._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            files = o.save(Path(folder, "made"))
            self.assertEqual([f.name for f in files], [f"transpose-swapped.{e}" for e in ("html", "json", "ptx")])
            self.assertEqual(files[2].read_text(), o.ptx)

    def test_a_tuning_says_what_won_and_by_how_much(self):
        w = heddle.Workload("transpose-swapped", size="tiny")
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "v.db")
            t = w.tune(device="model:gtx980", store=store)
            self.assertTrue(t and t.plan and t.proved and t.speedup > 1 and not t.recalled)
            k = t.kernels[0]
            self.assertTrue(k.adopted and k.low <= k.speedup <= k.high and k.after_us < k.before_us)
            again = heddle.tune(w, device="model:gtx980", store=store)
            self.assertTrue(again.recalled)
            self.assertEqual(again.plan, t.plan)
        with self.assertRaises(heddle.NotFoundError):
            w.tune(device="model:none", store="none")

    def test_functions_are_the_methods(self):
        w = heddle.Workload("copy-col", size="tiny")
        self.assertEqual(heddle.sweep(w, ["order=col"], gpu="gtx980")["plan"], ["baseline", "order=col"])
        self.assertEqual(heddle.check(w, "order=col").plan, heddle.Plan("order=col"))
        self.assertEqual(heddle.analyze(w, static=True).title, "copy-col")
        self.assertEqual(heddle.optimize(w, gpu="gtx980", plans=["order=col"]).tried[-1], heddle.Plan("order=col"))

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


@contextlib.contextmanager
def add_file():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "add.ptx"
        path.write_text(ADD)
        yield path


class Files(unittest.TestCase):
    def test_a_files_kernels_have_plain_names_and_typed_parameters(self):
        found = {k.name: k for k in heddle.kernels(EXAMPLES / "own/kernels.ptx")}
        self.assertIn("dense::product", found)
        axpy = found["axpy<float, 4>"]
        self.assertEqual([p.element for p in axpy.parameters], ["f32"] * 3)
        self.assertEqual([p.is_pointer for p in axpy.parameters], [True, True, False])
        self.assertEqual(axpy.title, "void axpy<float, 4>(float const*, float*, float)")
        self.assertIn(axpy.symbol, axpy.ptx)
        self.assertIsNone(axpy.refusal)
        self.assertEqual(axpy, heddle.kernel(EXAMPLES / "own/kernels.ptx", "axpy<float, 4>"))
        self.assertEqual(eval(repr(axpy.parameters[0]), vars(heddle)), axpy.parameters[0])

    def test_a_kernel_that_is_refused_says_where(self):
        with add_file() as path:
            path.write_text(ADD.replace("%ctaid.y", "%smid"))
            refusal = heddle.kernel(path).refusal
            self.assertIn("%smid", path.read_text().splitlines()[refusal.line - 1])

    def test_names_are_found_or_suggested(self):
        file = EXAMPLES / "own/kernels.ptx"
        self.assertEqual(heddle.kernel(file, "product").name, "dense::product")
        self.assertEqual(heddle.kernels(file, "nothing"), [])
        with self.assertRaisesRegex(heddle.NotFoundError, "did you mean convolve"):
            heddle.kernel(file, "covolve")
        with self.assertRaisesRegex(heddle.UsageError, "may be any of 2"):
            heddle.kernel(file, "axpy")
        with self.assertRaises(heddle.NotFoundError):
            heddle.kernel(file, "convolve", module=7)
        with self.assertRaises(FileNotFoundError):
            heddle.kernels("no-such-file")
        with self.assertRaises(heddle.InputError):
            heddle.kernels(__file__)


class Arguments(unittest.TestCase):
    def setUp(self):
        self.axpy = heddle.kernel(EXAMPLES / "own/kernels.ptx", "axpy<float, 4>")
        self.x, self.y = array.array("f", range(4096)), array.array("f", [1]) * 4096

    def launch(self, *args, **how):
        return self.axpy.launch(*args, **{"grid": 16, "block": 64, **how})

    def test_an_arrays_contents_are_what_the_kernel_gets(self):
        with tempfile.TemporaryDirectory() as folder:
            w = heddle.Workload(self.axpy.file, kernel=self.axpy.symbol, grid=16, block=64,
                                args=[self.x, self.y, 0.5], save=folder)  # fmt: skip
            self.assertEqual(Path(folder, "arg1.bin").read_bytes(), self.x.tobytes())
            self.assertTrue(w.check("order=reverse"))
            kept = heddle.Workload(folder)
            self.assertTrue(kept.check("order=reverse"))
            self.assertIn("f32", Path(folder, "workload.toml").read_text())

    def test_an_array_that_is_given_twice_is_one_buffer(self):
        with tempfile.TemporaryDirectory() as folder:
            heddle.Workload(self.axpy.file, kernel="axpy<float, 4>", grid=16, block=64, args=[self.x, self.x, 1.0],
                            save=folder)  # fmt: skip
            self.assertEqual(Path(folder, "workload.toml").read_text().count("[[buffer]]"), 1)

    def test_variables_and_buffers_keep_their_own_contents(self):
        file = EXAMPLES / "own/kernels.ptx"
        filter, x = array.array("f", range(9)), array.array("f", range(130 * 130))
        with tempfile.TemporaryDirectory() as folder:
            w = heddle.Workload(file, kernel="convolve", grid=(16, 16), block=(8, 8), variables={"filter": filter},
                                buffers={"more": self.y}, args=[x, "f32[16384]=none", 128], save=folder)  # fmt: skip
            made = {p.name: p.read_bytes() for p in Path(folder).glob("*.bin")}
            self.assertEqual(made, {"variable-filter.bin": filter.tobytes(), "buffer-more.bin": self.y.tobytes(),
                                    "arg1.bin": x.tobytes()})  # fmt: skip
            self.assertTrue(w.check("order=reverse"))

    def test_a_buffer_that_is_an_argument_is_one_buffer(self):
        with tempfile.TemporaryDirectory() as folder:
            heddle.Workload(self.axpy.file, kernel="axpy<float, 4>", grid=16, block=64, buffers={"a": self.x},
                            args=[self.x, self.y, 1.0], save=folder)  # fmt: skip
            self.assertEqual(Path(folder, "workload.toml").read_text().count("[[buffer]]"), 2)

    def test_what_is_no_buffer_is_named(self):
        cases = [
            ({"buffers": {"a": 3}}, "a: an array or TYPE.COUNT.=FILL is wanted, not int"),
            ({"buffers": {"a": self.x, "b": self.x}}, "b: its array is the buffer a already"),
            ({"buffers": {"../a": self.x}}, "'../a' is no name"),
            ({"variables": {"v": array.array("f")}}, "v: an array .* is wanted, not nothing"),
        ]
        for how, what in cases:
            with self.subTest(what=what), self.assertRaisesRegex(heddle.ArgumentError, what):
                heddle.Workload(self.axpy.file, kernel="axpy<float, 4>", grid=16, block=64,
                                args=[self.x, self.y, 1.0], **how)  # fmt: skip

    def test_a_number_sets_a_variable(self):
        with add_file() as path:
            path.write_text(ADD.replace(".visible", ".global .u64 v;\n.visible"))
            heddle.Workload(path, grid=(7, 3), block=1, args=["u32[21]=zero"], variables={"v": 5},
                            save=path.parent / "made")  # fmt: skip
            self.assertIn("value(5)", (path.parent / "made" / "workload.toml").read_text())

    def test_numbers_become_what_the_parameter_is(self):
        for number in (2, 2.5, float("nan"), float("inf"), "f32:0.5", 1 << 24, 1 << 40):
            self.launch(self.x, self.y, number)

    def test_what_does_not_fit_names_the_parameter(self):
        cases = [
            ((self.x, self.y), 0, "takes 3 arguments .float const., float., float., not 2"),
            ((self.x, 3, 1.0), 2, "is a pointer"),
            ((array.array("d", [1.0] * 8), self.y, 1.0), 1, "points to f32, and array.array holds f64"),
            ((array.array("i", [1] * 8), self.y, 1.0), 1, "points to f32, and array.array holds s32"),
            ((self.x, self.y, self.x), 3, "is no pointer"),
            ((self.x, self.y, None), 3, "not NoneType"),
            ((self.x, self.y, (1 << 24) + 1), 3, "not exact"),
            ((self.x, self.y, 1 << 200), 3, "not exact"),
            ((self.x, self.y, 1e39), 3, "does not fit"),
            ((self.x, array.array("f"), 1.0), 2, "is empty"),
        ]
        for args, number, what in cases:
            with self.subTest(what=what), self.assertRaisesRegex(heddle.ArgumentError, what) as e:
                self.launch(*args)
            self.assertEqual(e.exception.parameter, number)
            self.assertIsInstance(e.exception, TypeError)
            self.assertIn("axpy<float, 4>", str(e.exception))
        with self.assertRaisesRegex(heddle.ArgumentError, "parameter 3 .int.: it is no number with a point"):
            heddle.kernel(self.axpy.file, "convolve").launch(self.x, self.y, 1.0, grid=1, block=1)
        with self.assertRaisesRegex(heddle.ArgumentError, "does not fit in s32"):
            heddle.kernel(self.axpy.file, "convolve").launch(self.x, self.y, 1 << 31, grid=1, block=1)

    def test_structs_take_their_bytes(self):
        product = heddle.kernel(self.axpy.file, "product")
        with self.assertRaisesRegex(heddle.ArgumentError, "struct of 16 bytes; 3 are given"):
            product.launch(b"abc", b"0" * 16, self.x, grid=1, block=1)
        matrix = "struct{f32[4096]=zero, s32:64, s32:64}"
        self.assertTrue(product.launch(matrix, matrix, self.x, grid=(1, 64), block=64).check("order=col"))

    def test_a_launch_is_typed(self):
        for how in ({"grid": 0}, {"grid": (1, 2, 3, 4)}, {"block": -1}, {"grid": 1.5}):
            with self.assertRaises(heddle.ArgumentError):
                self.launch(self.x, self.y, 1.0, **how)
        with self.assertRaises(TypeError):
            self.launch(self.x, self.y, 1.0, grids=3)
        self.assertEqual(self.launch(self.x, self.y, 1.0, grid=(4, 4)).launches[0].grid, (4, 4, 1))

    def test_buffers_of_all_types_are_read(self):
        for code, element in zip("bBhHiIqQfd", "s8 u8 s16 u16 s32 u32 s64 u64 f32 f64".split()):
            a = as_array(array.array(code, [1, 2, 3]))
            self.assertEqual((a.element, a.count), (element, 3))
        self.assertEqual(as_array(memoryview(b"abcdef")[::2]).data, b"ace")
        for nothing in (None, "text", 3, [1, 2], {"a": 1}):
            self.assertIsNone(as_array(nothing))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_arrays_of_numpy_and_dlpack_are_read_in_c_order(self):
        import numpy as np

        class ByDLPack:
            def __init__(self, a, device=None):
                self.a, self.device = a, device

            def __dlpack__(self):
                return self.a.__dlpack__()

            def __dlpack_device__(self):
                return self.device or self.a.__dlpack_device__()

        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        for a in (x, x.T, x[::2, ::3], x.astype(np.int16).T, x.astype(np.complex64), x[:, None].astype(np.float16)):
            for view in (a, ByDLPack(a)):
                self.assertEqual(as_array(view).data, a.tobytes())
        for wrong in (ByDLPack(x, (2, 0)), x.astype(">f4"), np.array(["a"])):
            with self.assertRaises(heddle.ArgumentError):
                self.launch(wrong, self.y, 1.0)
        self.launch(x, self.y, np.float32(1))
        for wrong in (np.float64(1), np.int32(1), np.float16(1)):
            with self.assertRaisesRegex(heddle.ArgumentError, "parameter 3"):
                self.launch(x, self.y, wrong)

    def test_numpy_is_not_imported(self):
        code = "import sys, heddle; assert 'numpy' not in sys.modules"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


class Documentation(unittest.TestCase):
    def test_examples_in_doc_strings_hold(self):
        for module in (heddle, heddle._plans, heddle._kernels, heddle._workloads, heddle._programs):
            failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS, extraglobs={"examples": EXAMPLES})
            self.assertEqual(failed, 0, module)

    def test_the_frameworks_pages_are_python_that_the_package_has(self):
        pages = sorted((EXAMPLES.parent / "docs/frameworks").glob("*.md"))
        self.assertGreater(len(pages), 2)
        for page in pages:
            for name, block in re.findall(r"^```python\n# (\S+)\n(.*?)^```", page.read_text(), re.S | re.M):
                compile(block, f"{page.name}/{name}", "exec")
                for used in re.findall(r"\bheddle\.(?!triton)(\w+)", re.sub(r"import heddle\S*", "", block)):
                    self.assertIn(used, heddle.__all__, page.name)

    def test_jaxs_page_rewrites_what_ptxas_is_given(self):
        page = (EXAMPLES.parent / "docs/frameworks/jax.md").read_text()
        script = re.search(r"^```python\n# ptxas.py\n(.*?)^```", page, re.S | re.M)[1]
        with tempfile.TemporaryDirectory() as folder:
            own, assembler, text = (Path(folder, n) for n in ("ptxas.py", "ptxas", "add.ptx"))
            own.write_text(script)
            assembler.write_text('#!/bin/sh\ncp "$1" "$1.assembled"\n')
            assembler.chmod(0o755)
            text.write_text(ADD)
            env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
            subprocess.run([sys.executable, str(own), str(text)], env=env, check=True)
            self.assertEqual(Path(folder, "said").read_text(), "order=reverse\n")
            self.assertEqual(Path(folder, "add.ptx.assembled").read_text(), heddle.rewrite(ADD, "order=reverse").ptx)

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

    def test_a_launch_is_rewritten_without_more_parameters(self):
        def launch(plan, shared=0, text=ADD):
            return heddle._heddle.rewrite_launch(text, plan, "add", (64, 2), (64, 1), 4, shared)

        self.assertEqual(launch("order=col")[1:], (False, False, False))
        self.assertEqual(launch("bind=agents:2")[1:], (True, False, True))
        self.assertEqual(launch("bind=agents:2,sms=0-3")[1:], (True, True, True))
        self.assertEqual(launch("bind=agents:2")[0].count(".param"), ADD.count(".param"))
        self.assertEqual(heddle._heddle.worker_grid((64, 2), False, 4, 3), (12, 1, 1))
        self.assertEqual(heddle._heddle.worker_grid((4, 2), False, 4, 3), (8, 1, 1))
        waits = ADD.replace("st.global", "bar.sync 0;\n  st.global")  # its CTAs hand tasks over in shared memory
        self.assertTrue(launch("bind=agents:2", 0, waits)[1])
        # A launch with dynamic memory, of which the text says nothing, has the variable in front of all others.
        alone, beside = launch("bind=agents:2", 0, waits)[0], launch("bind=agents:2", 1024, waits)[0]
        self.assertLess(alone.index(".shared"), alone.index(".entry"))
        self.assertGreater(beside.index(".shared"), beside.index(".entry"))

    def test_verdicts_go_by_keys_that_the_library_makes(self):
        self.assertEqual(heddle._heddle.verdict_place("NVIDIA H100", 13010), ("NVIDIA H100", "13.1"))
        self.assertEqual(heddle._heddle.verdict_grid(64, 2, 1), "triton grid=64x2x1")
        with tempfile.TemporaryDirectory() as folder:
            store, key = os.path.join(folder, "s.db"), ("0" * 32, "triton grid=8x1x1", "GPU", "13.0")
            heddle._heddle.put_verdict(store, *key, "k", "order=col", 2.0, 1.9, 2.1, 10.0, 5.0, 7, 41)
            (found,) = heddle._heddle.list_verdicts(store, "GPU", "13.0")
            self.assertEqual(found[:6], (*key[:2], "order=col", 2.0, 10.0, 5.0))
            self.assertEqual(heddle._heddle.list_verdicts(store, "GPU", "13.1"), [])
            heddle._heddle.put_verdict(store, "0" * 32, "grid=8x1x1", *key[2:], "k", "order=col", 2, 1, 3, 2, 1, 1, 9)
            self.assertEqual(len(heddle._heddle.list_verdicts(store, "GPU", "13.0")), 1)


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

    def test_all_that_is_public_is_documented(self):
        for name in heddle.__all__:
            if name != "Argument":
                self.assertTrue(getattr(heddle, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()

"""heddle.triton, as far as it works without a GPU: up to the binary, and the choice of plans.

Triton is found where it is installed, or in the folder $HEDDLE_TRITON. Exit code 77: there is none.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

if os.environ.get("HEDDLE_TRITON"):
    sys.path.append(os.environ["HEDDLE_TRITON"])
try:
    import triton  # noqa: F401
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    import heddle.triton as ht
except ImportError as e:
    print(f"skipped: no Triton that heddle works with here: {e}")
    sys.exit(77)

import heddle
import triton_kernels as kernels
from heddle import _heddle, _triton_guard, _triton_tune

BLOCK = 64


def compile_kernel(fn, target=("cuda", 90)):
    names = fn.arg_names
    signature = {n: "constexpr" if n == "B" else "i32" if n == "w" else "*i32" for n in names}
    source = ASTSource(fn, signature, {(len(names) - 1,): BLOCK})
    return triton.compile(source, target=GPUTarget(*target, 32), options={"num_warps": 2})


class Pipeline(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "verdicts.db")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(self.folder.name, "cache")
        self.plain = compile_kernel(kernels.rows)

    def tearDown(self):
        ht.disable()
        self.folder.cleanup()

    def entries(self):
        cache = os.environ["TRITON_CACHE_DIR"]
        return {d for d in os.listdir(cache) if any(f.endswith(".cubin") for f in os.listdir(os.path.join(cache, d)))}

    def test_a_kernel_is_compiled_under_the_plan_that_is_named(self):
        ht.enable(store=self.store, plans={"rows": "order=band:4"})
        k = compile_kernel(kernels.rows)
        self.assertEqual(k.asm["ptx"], heddle.rewrite(self.plain.asm["ptx"], "order=band:4", kernel="rows").ptx)
        self.assertNotEqual(k.asm["cubin"], self.plain.asm["cubin"])
        self.assertEqual(k.metadata.shared, self.plain.metadata.shared)

    def test_off_and_without_a_verdict_the_text_and_the_entry_are_tritons_own(self):
        before = self.entries()
        ht.enable(store=self.store)
        self.assertEqual(compile_kernel(kernels.rows).asm["ptx"], self.plain.asm["ptx"])
        self.assertEqual(self.entries(), before)
        ht.disable()
        os.environ["TRITON_CACHE_DIR"] = os.path.join(self.folder.name, "other")
        again = compile_kernel(kernels.rows)
        self.assertEqual(again.asm["ptx"], self.plain.asm["ptx"])
        self.assertEqual(self.entries(), before)

    def test_binaries_under_a_plan_are_cached_beside_the_original(self):
        made = []
        triton.knobs.compilation.listener = lambda **how: made.append(how["cache_hit"])
        try:
            for plans in ({"rows": "order=col"}, {"rows": "order=col"}, {"rows": "order=reverse"}):
                ht.enable(store=self.store, plans=plans)
                compile_kernel(kernels.rows)
            ht.disable()
            self.assertEqual(compile_kernel(kernels.rows).asm["ptx"], self.plain.asm["ptx"])
        finally:
            triton.knobs.compilation.listener = None
        self.assertEqual(made, [False, True, False, True])
        self.assertEqual(len(self.entries()), 3)

    def test_a_launchs_binary_is_made_once_and_kept_in_tritons_cache(self):
        source = ASTSource(kernels.rows, {}, {(3,): BLOCK})
        kernel = _triton_tune.Kernel.of(source, self.plain.metadata)
        self.assertEqual(kernel.text(), self.plain.asm["ptx"])
        made, kept = kernel.recall("order=band:4", (8, 16, 1))
        self.assertFalse(kept)
        self.assertEqual(made[2:], (False, False, False))
        again = _triton_tune.Kernel.of(source, self.plain.metadata)
        again.compile = None
        self.assertEqual(again.recall("order=band:4", (8, 16, 1)), (made._replace(text=""), True))
        self.assertNotEqual(made.cubin, self.plain.asm["cubin"])
        again.compile = lambda plan, grid: None
        self.assertEqual(again.recall("order=band:4", (16, 16, 1)), (None, False))
        self.assertEqual(again.recall("order=col", (8, 16, 1)), (None, False))

    def test_a_kernel_is_found_by_its_key_alone(self):
        kernel = _triton_tune.Kernel.kept(self.plain.metadata.hash, "rows")
        self.assertEqual(kernel.text(), self.plain.asm["ptx"])
        self.assertEqual(kernel.metadata.num_warps, 2)
        self.assertNotEqual(kernel.compile("order=band:4", (8, 16, 1)).cubin, self.plain.asm["cubin"])
        with self.assertRaises(FileNotFoundError):
            _triton_tune.Kernel.kept("0" * 64, "rows")

    def test_a_text_that_is_newer_than_tritons_assembler_is_assembled_by_it(self):
        kernel = _triton_tune.Kernel.kept(self.plain.metadata.hash, "rows")
        text = kernel.text()
        for version in ("9.9", "8.0"):
            kernel.text = lambda: re.sub(r"\.version \d+\.\d+", f".version {version}", text)
            self.assertIsNotNone(kernel.compile("order=band:4", (8, 16, 1)))
        kernel.text = lambda: text.replace("st.global", "st.nowhere", 1)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertIsNone(kernel.compile("order=band:4", (8, 16, 1)))
        self.assertEqual(said.getvalue(), "")

    def test_a_kernel_that_cannot_be_rewritten_soundly_stays_as_it_is_and_is_named(self):
        plain = compile_kernel(kernels.waits)
        ht.enable(store=self.store, plans={"waits": "order=col"})
        with self.assertLogs("heddle.triton", "WARNING") as log:
            k = compile_kernel(kernels.waits)
        self.assertEqual(k.asm["ptx"], plain.asm["ptx"])
        self.assertIn("waits stays as it is", log.output[0])

    def test_plans_that_change_the_launch_are_not_taken(self):
        with self.assertRaises(heddle.UnsupportedError):
            ht.apply(self.plain.asm["ptx"], "bind=agents", "rows")

    def test_a_hook_that_is_there_goes_on(self):
        seen = []

        def earlier(*a, **k):
            if not a and not k:  # Triton 3.9 asks for a key and its hash first
                return "earlier", "0" * 64
            seen.append(a)

        triton.knobs.runtime.add_stages_inspection_hook = earlier
        try:
            ht.enable(store=self.store, plans={"rows": "order=col"})
            compile_kernel(kernels.rows)
            self.assertEqual(len(seen), 1)
            ht.disable()
            self.assertIs(triton.knobs.runtime.add_stages_inspection_hook, earlier)
        finally:
            ht.disable()
            triton.knobs.runtime.add_stages_inspection_hook = None

    def test_a_plan_that_is_none_is_refused_at_once(self):
        with self.assertRaises(heddle.InputError):
            ht.enable(plans={"rows": "order=nowhere"})

    def test_plans_with_workers_are_made_for_the_launchs_grid_without_parameters(self):
        kernel = _triton_tune.Kernel.kept(self.plain.metadata.hash, "rows")
        for plan, flags in (("bind=agents:2", (True, False, True)), ("bind=agents:2,sms=0-9", (True, True, True)),
                            ("order=col,bind=claim", (False, False, True))):  # fmt: skip
            made, kept = kernel.recall(plan, (8, 16, 1))
            self.assertEqual(made[2:], flags)
            self.assertEqual(made.text.count(".param .u64"), kernel.text().count(".param .u64"))
            self.assertEqual(kernel.recall(plan, (8, 16, 1)), (made._replace(text=""), True))
            with mock.patch.object(kernel, "resident", lambda function: 3), mock.patch.object(_triton_tune, "sms", lambda: 4):
                v = kernel.variant(made, 7, (8, 16, 1), 5)
            workers = (12, 1, 1) if flags[0] else _triton_guard.SAME
            self.assertEqual(v, _triton_guard.Variant(7, workers, 5))
        kernel.metadata = kernel.metadata._replace(launch_pdl=True)
        self.assertIsNone(kernel.compile("bind=agents:2", (8, 16, 1)))
        self.assertIsNotNone(kernel.compile("order=col", (8, 16, 1)))

    def test_every_candidate_of_a_launch_can_be_compiled(self):
        for fn, grid, numbers in ((kernels.rows, (8, 16), ()), (kernels.tiles, (128,), (512,))):
            text = compile_kernel(fn).asm["ptx"]
            rows = _triton_tune.widths(grid[0], numbers, (BLOCK,)) if len(grid) == 1 else []
            plans = _heddle.candidates(text, fn.__name__, grid, BLOCK, rows)
            self.assertTrue(plans)
            self.assertFalse([p for p in plans if "bind=agents" in p])
            self.assertTrue([p for p in _heddle.candidates(text, fn.__name__, grid, BLOCK, rows, 4) if "bind=agents" in p])
            for plan in plans:
                with self.subTest(kernel=fn.__name__, plan=plan):
                    self.assertNotEqual(ht.apply(text, plan, fn.__name__, grid), text)


class Choice(unittest.TestCase):
    def test_a_row_of_tiles_is_found_among_the_arguments(self):
        self.assertEqual(_triton_tune.widths(128, [512, 1024, 7], [64]), [16, 8])
        self.assertEqual(_triton_tune.widths(128, [100], [64]), [2])
        self.assertEqual(_triton_tune.widths(1, [512], [64]), [])
        self.assertEqual(_triton_tune.widths(127, [512], [64]), [])

    def test_a_variant_that_is_right_is_timed_and_one_that_is_wrong_is_not_right(self):
        class Bench:
            def result(self, function):
                return [function == "wrong"]

            def same(self, a, b):
                return a == b

            def time(self, function, launches):
                return {"original": 100e-6, "fast": 50e-6, "wrong": 10e-6}[function]

        contest = _triton_tune.Contest(Bench(), "original", None, None)
        self.assertEqual(contest.launches, 3)
        self.assertEqual(contest.run(None, True), (100e-6, True))
        self.assertEqual(contest.run(("fast", None), False), (50e-6, True))
        self.assertEqual(contest.run(("wrong", None), True), (10e-6, False))

    def test_variants_are_made_before_they_are_asked_for_once_each(self):
        made = []

        def make(item):
            made.append(item)
            return item * 2

        ahead = _triton_tune.Ahead(make, threads=2)
        ahead.announce(["1", "2", "3"])
        ahead.announce(["2"])
        self.assertEqual([ahead.take(i) for i in ("2", "joined", "1")], ["22", "joinedjoined", "11"])
        ahead.close()
        self.assertLessEqual(sorted(made), ["1", "2", "3", "joined"])
        self.assertEqual(len(made), len(set(made)))

    def test_each_grid_is_tuned_once_and_later_processes_take_its_verdict(self):
        launched, kept, recalled, tuned = [], [], [], []

        class Base:
            def __init__(self, src, metadata):
                self.launch_pdl = False

            def __call__(self, x, y, z, stream, function, *rest):
                launched.append(function)

        class Metadata:
            name, hash = "k", "0" * 64

        class Events(_triton_guard.Events):
            def __init__(self):
                pass

            def is_captured(self, stream):
                return False

            def relaxed(self):
                return contextlib.nullcontext()

        class Kernel:
            @classmethod
            def of(cls, src, metadata):
                k = cls()
                k.name, k.metadata = metadata.name, metadata
                return k

            def keep(self, plan, grid, made):
                kept.append((plan, grid, made))

            def recall(self, plan, grid):
                recalled.append((plan, grid))
                return made, True

            def load(self, cubin):
                return "module", f"loaded {cubin.decode()}"

            def variant(self, made, function, grid, stream):
                return _triton_guard.Variant(function)

        def tune(kernel, launch, original, grid, stream, values, seconds):
            tuned.append(grid)
            won = ht.Tuned("k", heddle.Plan("order=col" if grid[0] > 2 else ""), 2, 1.9, 2.1, 2, 1, 9)
            return won, made if won.plan else None, 3

        made = _triton_tune.Made("ptx", b"cubin", False, False, False)

        def launches(state):
            launched.clear()
            launcher = _triton_guard.launcher(Base, state)(None, Metadata)
            for grid in ((4, 2, 1), (4, 2, 1), (2, 2, 1), (2, 2, 1), (8, 8, 1)):
                launcher(*grid, 0, "original", (), None, None, None)
            self.assertFalse(launcher.launch_pdl)
            return list(launched)

        patches = (
            mock.patch.object(_triton_tune, "Kernel", Kernel),
            mock.patch.object(_triton_tune, "tune", tune),
            mock.patch.object(_triton_guard, "Events", Events),
        )
        with contextlib.ExitStack() as all_of_them, tempfile.TemporaryDirectory() as folder:
            for patch in patches:
                all_of_them.enter_context(patch)
            store = os.path.join(folder, "s.db")
            all_of_them.enter_context(mock.patch.dict(os.environ, XDG_CACHE_HOME=folder))
            self.assertEqual(launches(ht._State(store, {}, False, 1, False)), ["original"] * 5)
            under = ["loaded cubin"] * 2 + ["original"] * 2 + ["loaded cubin"]
            tuning = ht._State(store, {}, True, 1, False)
            self.assertEqual(launches(tuning), under)
            self.assertEqual([str(t.plan) for t in tuning.tuned], ["order=col", "baseline", "order=col"])
            self.assertEqual(tuned, [(4, 2, 1), (2, 2, 1), (8, 8, 1)])
            self.assertEqual(kept, [("order=col", g, made) for g in ((4, 2, 1), (8, 8, 1))])
            self.assertEqual(launches(ht._State(store, {}, True, 1, False)), under)
            self.assertEqual(len(tuned), 3)
            self.assertEqual(recalled, [("order=col", g) for g in ((4, 2, 1), (8, 8, 1))] * 2)
            self.assertEqual(launches(ht._State(store, {"k": "order=reverse"}, True, 1)), ["original"] * 5)

    def test_a_kernel_whose_verdicts_are_that_the_original_is_best_keeps_tritons_own_launcher(self):
        with tempfile.TemporaryDirectory() as folder:
            store, own = os.path.join(folder, "s.db"), ht.place()
            for key, plan in (("0" * 64, "baseline"), ("1" * 64, "order=col")):
                _heddle.put_verdict(store, key[:32], ht.launch_text((4, 1, 1)), *own, "k", plan, 1, 1, 1, 1, 1, 3, 9)
            state = ht._State(store, {}, False, 1)
            self.assertFalse(state.is_wanted("0" * 64, "k"))
            self.assertTrue(state.is_wanted("1" * 64, "k"))
            self.assertTrue(ht._State(store, {}, True, 1).is_wanted("0" * 64, "k"))

    def test_a_launch_that_cannot_be_tuned_runs_the_original(self):
        launched = []

        class Base:
            def __init__(self, src, metadata):
                pass

            def __call__(self, x, y, z, stream, function, *rest):
                launched.append(function)

        class Metadata:
            name, hash = "k", "0" * 64  # and nothing else that a kernel has

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(_triton_guard, "Events", mock.MagicMock()) as e:
            e.return_value.is_captured.return_value = False
            state = ht._State(os.path.join(folder, "s.db"), {}, True, 1)
            launcher = _triton_guard.launcher(Base, state)(None, Metadata)
            with self.assertLogs("heddle.triton", "WARNING"):
                launcher(4, 4, 1, 0, "original", (), None, None, None)
        self.assertEqual(launched, ["original"])

    def test_autotuners_are_left_alone_while_heddle_is_on(self):
        from triton.runtime.autotuner import Autotuner

        before = Autotuner._bench
        with tempfile.TemporaryDirectory() as folder:
            state = ht._State(os.path.join(folder, "s.db"), {}, False, 1)
            with mock.patch.object(Autotuner, "_bench", lambda self: state.is_benched()):
                patches = _triton_guard.patch(state)
                self.assertEqual((state.is_benched(), Autotuner._bench(None), state.is_benched()), (False, True, False))
                patches.undo()
                self.assertFalse(Autotuner._bench(None))
        self.assertIs(Autotuner._bench, before)


if __name__ == "__main__":
    unittest.main()

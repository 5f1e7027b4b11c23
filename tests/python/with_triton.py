"""heddle.triton, as far as it works without a GPU: up to the binary, and the choice of plans.

Triton is found where it is installed, or in the folder $HEDDLE_TRITON. Exit code 77: there is none.
"""

import os
import sys
import tempfile
import unittest

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
from heddle import _heddle, _triton_tune

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
        kernel = _triton_tune._Kernel(source, self.plain.metadata)
        self.assertEqual(kernel.text(), self.plain.asm["ptx"])
        cubin = kernel.recall("order=band:4", (8, 16, 1))
        again = _triton_tune._Kernel(source, self.plain.metadata)
        again.compile = None
        self.assertEqual(again.recall("order=band:4", (8, 16, 1)), cubin)
        self.assertNotEqual(cubin, self.plain.asm["cubin"])
        again.compile = lambda plan, grid: None
        self.assertIsNone(again.recall("order=band:4", (16, 16, 1)))
        self.assertIsNone(again.recall("order=col", (8, 16, 1)))

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

    def test_every_candidate_of_a_launch_can_be_compiled(self):
        for fn, grid, numbers in ((kernels.rows, (8, 16), ()), (kernels.tiles, (128,), (512,))):
            text = compile_kernel(fn).asm["ptx"]
            rows = _triton_tune.widths(grid[0], numbers, (BLOCK,)) if len(grid) == 1 else []
            plans = _heddle.candidates(text, fn.__name__, grid, BLOCK, rows)
            self.assertTrue(plans)
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
        launched, kept, recalled = [], [], []

        class Base:
            def __init__(self, src, metadata):
                self.launch_pdl = False

            def __call__(self, x, y, z, stream, function, *rest):
                launched.append(function)

        class Metadata:
            name, hash = "k", "0" * 64

        class Kernel:
            def __init__(self, src, metadata):
                self.name = metadata.name

            def keep(self, plan, grid, made):
                kept.append((plan, grid, made))

            def recall(self, plan, grid):
                recalled.append((plan, grid))
                return b"cubin"

            def load(self, cubin):
                return "module", f"loaded {cubin.decode()}"

        def tune(kernel, launch, original, grid, values, seconds):
            won = ht.Tuned("k", heddle.Plan("order=col" if grid[0] > 2 else ""), 2, 1.9, 2.1, 2, 1, 9)
            return (won, "fast", ("ptx", b"cubin"), 3) if won.plan else (won, original, None, 3)

        def launches(state):
            launched.clear()
            launcher = _triton_tune.launcher_class(Base, state)(None, Metadata)
            for grid in ((4, 2, 1), (4, 2, 1), (2, 2, 1), (2, 2, 1), (8, 8, 1)):
                launcher(*grid, 0, "original", (), None, None, None)
            self.assertFalse(launcher.launch_pdl)
            return list(launched)

        real = _triton_tune._Kernel, _triton_tune.tune
        _triton_tune._Kernel, _triton_tune.tune = Kernel, tune
        try:
            with tempfile.TemporaryDirectory() as folder:
                store = os.path.join(folder, "s.db")
                self.assertEqual(launches(ht._State(store, {}, False, 1)), ["original"] * 5)
                tuning = ht._State(store, {}, True, 1)
                self.assertEqual(launches(tuning), ["fast"] * 2 + ["original"] * 2 + ["fast"])
                self.assertEqual([str(t.plan) for t in tuning.tuned], ["order=col", "baseline", "order=col"])
                self.assertEqual(kept, [("order=col", g, ("ptx", b"cubin")) for g in ((4, 2, 1), (8, 8, 1))])
                _triton_tune.tune = None
                later = launches(ht._State(store, {}, True, 1))
                self.assertEqual(later, ["loaded cubin"] * 2 + ["original"] * 2 + ["loaded cubin"])
                self.assertEqual(recalled, [("order=col", (4, 2, 1)), ("order=col", (8, 8, 1))])
                self.assertEqual(launches(ht._State(store, {"k": "order=reverse"}, True, 1)), ["original"] * 5)
        finally:
            _triton_tune._Kernel, _triton_tune.tune = real

    def test_a_launch_that_cannot_be_tuned_runs_the_original(self):
        launched = []

        class Base:
            def __init__(self, src, metadata):
                pass

            def __call__(self, x, y, z, stream, function, *rest):
                launched.append(function)

        class Metadata:
            name, hash = "k", "0" * 64  # and nothing else that a kernel has

        with tempfile.TemporaryDirectory() as folder:
            state = ht._State(os.path.join(folder, "s.db"), {}, True, 1)
            launcher = _triton_tune.launcher_class(Base, state)(None, Metadata)
            with self.assertLogs("heddle.triton", "WARNING"):
                launcher(4, 4, 1, 0, "original", (), None, None, None)
        self.assertEqual(launched, ["original"])


if __name__ == "__main__":
    unittest.main()

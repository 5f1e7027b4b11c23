"""Verdicts on Triton's kernels are on probation: over a launcher, a clock and a driver of this file's own, without Triton."""

import contextlib
import ctypes
import os
import random
import tempfile
import threading
import unittest
from unittest import mock

from heddle import _heddle, _triton_guard, _triton_tune

KEY = "0123456789abcdef" * 4
GRID = (8, 4, 1)


class Gpu:
    """Launches one after the other, each of which takes its function's time; the host sees times some launches later."""

    def __init__(self, times, noise=0.0, drift=0.0, cold=0.0, depth=0):
        self.times, self.noise, self.drift, self.cold, self.depth = times, noise, drift, cold, depth
        self.now, self.n, self.random = 0.0, 0, random.Random(7)
        self.launched, self.grids, self.captured, self.untimed = [], [], False, False
        self.made, self.gone, self.mode, self.kept = 0, 0, 0, []

    def launch(self, function):
        seconds = self.times[function](self.n) if callable(self.times[function]) else self.times[function]
        seconds *= 2 ** self.random.gauss(0, self.noise) * (1 + self.drift * self.n / 1000)
        self.now += seconds * (1 + self.cold * (self.n % 2))
        self.n += 1
        self.launched.append(function)

    # As _triton_guard.Events:
    relaxed = contextlib.nullcontext

    def is_captured(self, stream):
        return self.captured

    def addresses(self):
        """Of what is called in the driver's place: events are numbers, from 1 on."""
        self.marks = {}

        def is_capturing(stream, status):
            status[0] = self.captured
            return 0

        def exchange_mode(mode):
            self.mode, mode[0] = mode[0], self.mode
            return 0

        def create(event, flags):
            self.made += 1
            event[0] = self.made
            return 0 if self.mode == RELAXED else 1

        def record(event, stream):
            self.marks[event] = self.now, self.n
            return 1 if self.untimed else 0

        def elapsed(ms, begin, end):
            if self.n - self.marks[end][1] < self.depth:
                return 600
            ms[0] = 1e3 * (self.marks[end][0] - self.marks[begin][0])
            return 0 if self.mode == RELAXED else 1

        def destroy(event):
            self.gone += 1
            return 0

        pointer, integer = ctypes.POINTER, ctypes.c_int
        types = ((ctypes.c_void_p, pointer(integer)), (pointer(integer),), (pointer(ctypes.c_void_p), ctypes.c_uint),
                 (ctypes.c_void_p,) * 2, (pointer(ctypes.c_float), ctypes.c_void_p, ctypes.c_void_p),
                 (ctypes.c_void_p,))  # fmt: skip
        called = is_capturing, exchange_mode, create, record, elapsed, destroy
        self.kept += [ctypes.CFUNCTYPE(integer, *t)(f) for t, f in zip(types, called)]
        return [ctypes.cast(f, ctypes.c_void_p).value for f in self.kept[-len(called) :]]


RELAXED = 2
"""The driver's mode of captures in which nothing is refused."""


class Metadata:
    name, hash = "k", KEY


class Kernel:
    """As _triton_tune.Kernel, with a plan's binary in its cache."""

    @classmethod
    def of(cls, src, metadata):
        return cls()

    kept = of
    variants = {}
    """By plan, what is not usual about it."""

    def recall(self, plan, grid):
        self.plan = plan
        return _triton_tune.Made("", b"plan", False, False, False), True

    def load(self, cubin):
        return "module", cubin.decode()

    def variant(self, made, function, grid, stream):
        dims, alone = self.variants.get(self.plan, (_triton_guard.SAME, False))
        return _triton_guard.Variant(function, dims, stream if alone else None)


class Verdict:
    plan, speedup, before_us, after_us, when, found = "order=col", 1.25, 1000.0, 800.0, 1, False


class State:
    """As heddle.triton's, with one verdict."""

    def __init__(self, gpu, guard=True, verdict=Verdict):
        self.gpu, self.guard, self.known, self.tune = gpu, guard, verdict, False
        self.forced, self.launchers, self.benched, self.asked = {}, [], False, 0

    def verdict(self, key, grid):
        self.asked += 1
        return self.known

    def is_wanted(self, key, name):
        return self.known is not None

    def note(self, key, grid, name, v):
        launch = _heddle.verdict_grid(*grid)
        return _heddle.Note("script", key[:32], launch, "gpu", "1.0", v.plan, name, v.speedup, v.before_us, v.after_us, v.when)

    def events(self):
        return self.gpu

    def is_benched(self):
        return self.benched

    def write(self, *applied):
        notes = [a.note for a in applied]
        notes[0].put("script", notes[1:])

    def end(self):
        for t in self.launchers:
            for grid, a in t.applied.items():
                a.note.count(t.counts()[grid], a.ready)
                self.write(a)


class Base:
    """As Triton's launcher."""

    launch_pdl = False
    gpu = None

    def __init__(self, src, metadata):
        pass

    def __call__(self, x, y, z, stream, function, *rest):
        if function == "plan" and self.gpu.times["plan"] is None:
            raise RuntimeError("the driver does not take it")
        self.gpu.grids.append((function, (x, y, z)))
        self.gpu.launch(function)


class Guard(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for patched in (
            mock.patch.dict(os.environ, XDG_CACHE_HOME=self.folder.name),
            mock.patch.object(_triton_tune, "Kernel", Kernel),
        ):
            patched.start()
            self.addCleanup(patched.stop)
        self.addCleanup(self.folder.cleanup)

    def process(self, gpu, n, **how):
        """So many launches in a process; (launcher, what is known of the verdict)."""
        Base.gpu = gpu
        state = State(gpu, **how)
        launcher = _triton_guard.launcher(Base, state)(None, Metadata)
        self.launch(launcher, n)
        state.end()
        if not isinstance(launcher, _triton_guard.Launches) or GRID not in launcher.applied:
            return launcher, None
        return launcher, launcher.applied[GRID].guarded(launcher.counts()[GRID])

    def launch(self, launcher, n, stream=0):
        for _ in range(n):
            launcher(*GRID, stream, "original", (), None, None, None, 1, 2)

    def test_a_plan_that_is_faster_stays_and_each_launch_is_made_once(self):
        for how in ({}, {"noise": 0.02}, {"drift": 1, "noise": 0.01}, {"cold": 0.5, "noise": 0.01}, {"depth": 20, "noise": 0.01}):
            with self.subTest(**how):
                self.folder.cleanup()
                os.makedirs(self.folder.name)
                gpu = Gpu({"original": 1e-3, "plan": 0.85e-3}, **how)
                _, known = self.process(gpu, 1000)
                self.assertEqual(len(gpu.launched), 1000)
                self.assertEqual(known.state, "kept")
                self.assertGreater(gpu.launched.count("plan"), 900)
                self.assertAlmostEqual(known.measured, 1 / 0.85, delta=0.05)
                self.assertLessEqual(known.pairs, 32)
                self.assertGreater(known.saved, 0.1)
                self.assertEqual(known.launches, 1000)

    def test_a_plan_that_is_slower_is_taken_back_within_64_launches_and_not_used_again(self):
        for factor in (2, 1.2, 1.05):
            for how in ({}, {"noise": 0.01}, {"depth": 20}, {"drift": 1}):
                with self.subTest(factor=factor, **how):
                    self.folder.cleanup()
                    os.makedirs(self.folder.name)
                    gpu = Gpu({"original": 1e-3, "plan": factor * 1e-3}, **how)
                    _, known = self.process(gpu, 500)
                    self.assertEqual(len(gpu.launched), 500)
                    self.assertLessEqual(gpu.launched.count("plan"), 32)
                    self.assertNotIn("plan", gpu.launched[100:])
                    self.assertIn(known.state, ("slower", "unsure"))
                    self.assertGreater(known.lost, 0)
                    later = Gpu({"original": 1e-3, "plan": 0.5e-3})
                    _, known = self.process(later, 500)
                    self.assertNotIn("plan", later.launched)
                    self.assertIn("slower in this program", known.state)

    def test_a_plan_of_half_the_speed_is_out_after_few_launches(self):
        gpu = Gpu({"original": 1e-3, "plan": 2e-3})
        self.process(gpu, 500)
        self.assertLessEqual(gpu.launched.count("plan"), 8)

    def test_what_was_kept_takes_the_launches_between_the_turns_at_once(self):
        self.process(Gpu({"original": 1e-3, "plan": 0.8e-3}), 1000)
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3}, depth=10000)
        self.process(gpu, 1000)
        self.assertGreater(gpu.launched.count("plan"), 900)

    def test_a_capture_holds_the_original_until_the_plan_was_kept_in_a_process(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3}, depth=1000)
        launcher, _ = self.process(gpu, 4)
        gpu.captured = True
        before = len(gpu.launched)
        self.launch(launcher, 50)
        self.assertEqual(gpu.launched[before:], ["original"] * 50)
        gpu.captured, gpu.depth = False, 0
        self.launch(launcher, 200)
        launcher.state.end()
        again = Gpu({"original": 1e-3, "plan": 0.8e-3}, depth=1000)
        launcher, _ = self.process(again, 4)
        again.captured = True
        before = len(again.launched)
        self.launch(launcher, 50)
        self.assertEqual(again.launched[before:], ["plan"] * 50)

    def test_nothing_is_looked_up_under_a_capture(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        gpu.captured = True
        launcher, known = self.process(gpu, 20)
        self.assertIsNone(known)
        self.assertEqual(launcher.state.asked, 0)
        gpu.captured = False
        self.launch(launcher, 100)
        self.assertIn("plan", gpu.launched)

    def test_launches_of_an_autotuner_are_the_original_and_not_looked_up(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        launcher, _ = self.process(gpu, 0)
        launcher.state.benched = True
        self.launch(launcher, 50)
        self.assertEqual((gpu.launched, launcher.state.asked), (["original"] * 50, 0))

    def test_a_plan_that_cannot_be_launched_is_taken_back_and_the_original_launched(self):
        gpu = Gpu({"original": 1e-3, "plan": None})
        with self.assertLogs("heddle.triton", "WARNING"):
            _, known = self.process(gpu, 100)
        self.assertEqual(gpu.launched, ["original"] * 100)
        self.assertEqual(known.state, "unsure")

    def test_launches_that_cannot_be_timed_leave_the_original(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        gpu.untimed = True
        _, known = self.process(gpu, 500)
        self.assertEqual(known.state, "unsure")
        self.assertNotIn("plan", gpu.launched[100:])

    def test_a_plan_that_becomes_slower_is_found_when_it_is_looked_at_again(self):
        gpu = Gpu({"original": 1e-3, "plan": lambda n: 0.8e-3 if n < 2000 else 1.3e-3})
        _, known = self.process(gpu, 6000)
        self.assertNotIn("plan", gpu.launched[4300:])
        self.assertEqual(known.state, "slower")
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        self.folder.cleanup()
        os.makedirs(self.folder.name)
        _, known = self.process(gpu, 6000)
        self.assertEqual(known.state, "kept")
        self.assertIn("original", gpu.launched[4000:4300])

    def test_a_plan_that_costs_more_than_it_saves_is_not_used_by_the_next_process(self):
        launcher, _ = self.process(Gpu({"original": 1e-6, "plan": 0.9e-6}), 100)
        launcher.applied[GRID].ready = 1.0
        launcher.state.end()
        gpu = Gpu({"original": 1e-6, "plan": 0.9e-6})
        _, known = self.process(gpu, 100)
        self.assertNotIn("plan", gpu.launched)
        self.assertIn("does not pay here: saves", known.state)

    def test_launches_that_are_too_few_to_be_measured_run_under_the_plan(self):
        self.process(Gpu({"original": 1e-3, "plan": 0.8e-3}), 6)
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        _, known = self.process(gpu, 6)
        self.assertEqual((gpu.launched, known.state), (["plan"] * 6, "few launches"))

    def test_a_plan_with_workers_is_launched_in_their_grid_and_the_original_in_its_own(self):
        with mock.patch.dict(Kernel.variants, {"order=col": ((132, 1, 1), True)}):
            gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
            self.process(gpu, 200)
        self.assertEqual(set(gpu.grids), {("original", GRID), ("plan", (132, 1, 1))})

    def test_launches_that_share_a_state_are_those_of_one_stream_and_of_no_graph(self):
        with mock.patch.dict(Kernel.variants, {"order=col": (_triton_guard.SAME, True)}):
            for before in (3, 200):  # on probation, and after it
                for times in (1, 2):  # the second process trusts the plan
                    gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
                    launcher, _ = self.process(gpu, before)
                    gpu.launched.clear()
                    self.launch(launcher, 50, stream=1)
                    gpu.captured = True
                    self.launch(launcher, 50)
                    self.assertEqual(gpu.launched, ["original"] * 100)
                    gpu.captured = False
                    self.launch(launcher, 100)
                    self.assertGreater(gpu.launched.count("plan"), 40)

    def test_without_a_guard_a_verdict_holds_from_the_first_launch_on(self):
        gpu = Gpu({"original": 1e-3, "plan": 2e-3})
        self.process(gpu, 200, guard=False)
        self.assertEqual(gpu.launched, ["plan"] * 200)

    def test_a_kernel_without_a_verdict_keeps_tritons_own_launcher(self):
        launcher, _ = self.process(Gpu({"original": 1e-3}), 3, verdict=None)
        self.assertIs(type(launcher), Base)

    def test_the_launcher_has_the_attributes_of_tritons_own(self):
        launcher, _ = self.process(Gpu({"original": 1e-3, "plan": 1e-3}), 1)
        self.assertFalse(launcher.launch_pdl)

    def test_a_launch_of_another_thread_in_the_midst_of_one_is_the_original_and_not_timed(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        launcher, _ = self.process(gpu, 3)
        launched, made = [], gpu.made

        def launch(x, y, z, stream, function):
            launched.append(function)
            if len(launched) == 1:
                other = threading.Thread(target=probation, args=(*GRID, 0, "original"))
                other.start()
                other.join()

        launcher.original = launch
        way = launch, "plan", _triton_guard.SAME
        probation = _triton_guard.Probation(launcher, launcher.applied[GRID], way, 0)
        probation(*GRID, 0, "original")
        self.assertEqual(launched[1:], ["original"])
        self.assertEqual(gpu.made - made, 2)

    def test_events_are_used_again_and_gone_when_it_is_known(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3}, noise=0.01)
        _, known = self.process(gpu, 1000)
        self.assertEqual((known.state, gpu.made, gpu.gone, gpu.mode), ("kept", 2, 2, 0))
        behind = Gpu({"original": 1e-3, "plan": 0.8e-3}, noise=0.3, depth=10)
        self.process(behind, 40)
        self.assertLessEqual(behind.made, 2 * 64)

    def test_an_exception_that_is_no_failure_of_the_plan_goes_to_the_caller(self):
        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        launcher, _ = self.process(gpu, 0)

        def interrupt(*args):
            raise KeyboardInterrupt

        applied = _triton_guard.Applied("k", GRID, "order=col", 1.25, 0, None)
        probation = _triton_guard.Probation(launcher, applied, (interrupt, None, _triton_guard.SAME), 2)
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(8):
                probation(*GRID, 0, "original")
        self.assertEqual(applied.state, "open")

    def test_a_driver_without_a_function_and_a_launch_without_a_stream_are_errors(self):
        arms = print, print, None, _triton_guard.SAME
        with self.assertRaises(ValueError):
            _heddle.Probation(*arms, 0, 1, [1, 2, 0, 4, 5, 6])
        with self.assertRaises(IndexError):
            _heddle.Probation(*arms, 0, 1, [1, 2])
        gpu = Gpu({})
        probation = _heddle.Probation(*arms, 0, 1, gpu.addresses())
        with self.assertRaises(TypeError):
            probation(1, 1, 1)
        with self.assertRaises(TypeError):
            probation(1, 1, 1, "stream")

    def test_a_plan_may_change_any_one_dimension_of_a_grid(self):
        gpu, launched = Gpu({}), []
        gpu.captured = True
        dims, trusted = (None, 2, None), _triton_guard.TRUSTED

        def plan(*args):
            launched.append(args)

        probation = _heddle.Probation(print, plan, None, dims, trusted, 1, gpu.addresses())
        probation(4, 4, 1, 0, "own")
        self.assertEqual(launched, [(4, 2, 1, 0, "own")])

    def test_a_probation_that_is_not_open_has_measured_nothing(self):
        probation = _heddle.Probation.__new__(_heddle.Probation)
        with self.assertRaises(ValueError):
            probation.measured()
        with self.assertRaises(TypeError):
            probation(*GRID, 0)
        self.assertEqual(probation.plain(), 0)


class Static(Guard):
    """The same of the launches that PyTorch makes without Triton's launcher."""

    class Of:
        name, hash, function = "k", KEY, "original"

        def run(self, x, y, z, stream, *rest):
            Base.__call__(self, x, y, z, stream, self.function, *rest)

    def process(self, gpu, n, **how):
        Base.gpu = self.Of.gpu = gpu
        state = State(gpu, **how)
        of = self.Of()
        launcher = _triton_guard.static_launcher(state)(of) or of.run
        self.launch(launcher, n)
        state.end()
        if not isinstance(launcher, _triton_guard.Launches) or GRID not in launcher.applied:
            return launcher, None
        return launcher, launcher.applied[GRID].guarded(launcher.counts()[GRID])

    def launch(self, launcher, n, stream=0):
        for _ in range(n):
            launcher(*GRID, stream, 1, 2)

    def test_a_kernel_without_a_verdict_keeps_tritons_own_launcher(self):
        launcher, _ = self.process(Gpu({"original": 1e-3}), 3, verdict=None)
        self.assertNotIsInstance(launcher, _triton_guard.Launches)

    test_the_launcher_has_the_attributes_of_tritons_own = None

    def test_inductors_launcher_takes_it_and_the_kernel_is_left_as_it_was(self):
        class Result:
            def __init__(self, kernel):
                self.kernel = kernel

            def make_launcher(self):
                return self.kernel.run

        class Autotuner:
            def bench(self, launcher):
                return state.is_benched_now()

        class State_(State):
            def __init__(self, gpu):
                super().__init__(gpu)
                self.benching = mock.Mock(n=0)

            def is_benched_now(self):
                return self.benching.n

        gpu = Gpu({"original": 1e-3, "plan": 0.8e-3})
        Base.gpu = self.Of.gpu = gpu
        state = State_(gpu)
        module = mock.Mock(StaticTritonCompileResult=Result, CachingAutotuner=Autotuner)
        patches = _triton_guard.Patches()
        _triton_guard._inductor(state, patches, module)
        kernel = self.Of()
        launcher = Result(kernel).make_launcher()
        self.assertIsInstance(launcher, _triton_guard.Launches)
        self.assertNotIn("run", vars(kernel))
        self.launch(launcher, 200)
        self.assertEqual(len(gpu.launched), 200)
        self.assertIn("plan", gpu.launched)
        self.assertEqual((Autotuner().bench(None), state.benching.n), (1, 0))
        patches.undo()
        self.assertNotIsInstance(Result(kernel).make_launcher(), _triton_guard.Launches)


class Table(unittest.TestCase):
    def test_a_caller_keeps_its_arguments(self):
        seen = []

        class Own(_heddle.Launches):
            def find(self, grid, args):
                self.set(grid, lambda *a: seen.append(a), "plan", (7, 1, 1), 0)

        args = (4, 2, 1, 0, "function", "rest")
        launches = Own(None)
        launches(*args)
        launches(4, 2, 1, 0, "function", "rest")
        self.assertEqual(args, (4, 2, 1, 0, "function", "rest"))
        self.assertEqual(seen, [(7, 1, 1, 0, "plan", "rest")] * 2)

    def test_each_grid_is_looked_up_once_and_again_when_its_launches_are_used_up(self):
        asked, seen = [], []

        class Own(_heddle.Launches):
            def find(self, grid, args):
                asked.append(grid)
                self.set(grid, None, None, (None,) * 3, 3 if grid[0] == 1 else 0)

        launches = Own(lambda *a: seen.append(a[:3]))
        for k in range(1, 101):
            for _ in range(6):
                launches(k, 1, 1, 0, "function")
        self.assertEqual(asked, [(1, 1, 1)] * 2 + [(k, 1, 1) for k in range(2, 101)])
        self.assertEqual(len(seen), 600)
        self.assertEqual(launches.counts(), {(k, 1, 1): 6 for k in range(1, 101)})

    def test_grids_without_end_are_launched_as_they_are(self):
        asked = []

        class Own(_heddle.Launches):
            def find(self, grid, args):
                asked.append(grid)
                self.set(grid, None, None, (None,) * 3, 0)

        launches = Own(lambda *a: a[0])
        self.assertEqual([launches(k, 1, 1, 0, "function") for k in range(1, 6000)], list(range(1, 6000)))
        self.assertEqual(len(asked), 4096)

    def test_an_exception_of_the_lookup_goes_to_the_caller_and_other_arguments_go_on(self):
        class Own(_heddle.Launches):
            def find(self, grid, args):
                raise KeyError(grid)

        launches = Own(lambda *a, **k: (a, k))
        with self.assertRaises(KeyError):
            launches(1, 1, 1, 0, "function")
        self.assertEqual(launches(0, 1, 1, 0, "function"), ((0, 1, 1, 0, "function"), {}))
        self.assertEqual(launches("a", x=1), (("a",), {"x": 1}))

    def test_an_entry_may_change_any_one_dimension_of_a_grid(self):
        launched = []

        def plan(*args):
            launched.append(args)

        launches = _heddle.Launches(print)
        launches.set((4, 4, 1), plan, None, (None, None, 2), 0)
        launches(4, 4, 1, 0, "own")
        self.assertEqual(launched, [(4, 4, 2, 0, "own")])

    def test_a_table_without_an_original_or_an_entry_without_a_grid_is_an_error(self):
        launches = _heddle.Launches.__new__(_heddle.Launches)
        with self.assertRaises(ValueError):
            launches(*GRID, 0, "function")
        with self.assertRaises(ValueError):
            launches.set(None, print, None, (None,) * 3, 0)
        self.assertEqual(launches.counts(), {})


class Assembler(unittest.TestCase):
    def test_a_text_is_written_in_no_newer_version_than_the_assembler_takes(self):
        for newest, version in ((87, "8.7"), (90, "9.0"), (91, "9.0"), (None, "9.0")):
            with mock.patch.object(_triton_tune, "newest_version", lambda arch: newest):
                text = _triton_tune.for_assembler("//\n.version 9.0\n.target sm_90a\n", 90)
            self.assertEqual(text, f"//\n.version {version}\n.target sm_90a\n")


class Later(unittest.TestCase):
    def test_a_module_is_met_when_it_is_imported(self):
        met = []
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "imported_later.py"), "w") as f:
                f.write("value = 1\n")
            import sys

            finder = _triton_guard._Imported("imported_later", lambda m: met.append(m.value))
            sys.meta_path.insert(0, finder)
            with mock.patch.object(sys, "path", [folder, *sys.path]):
                import imported_later  # noqa: F401
            self.assertEqual(met, [1])
            self.assertNotIn(finder, sys.meta_path)


if __name__ == "__main__":
    unittest.main()

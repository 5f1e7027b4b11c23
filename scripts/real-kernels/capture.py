"""Triton kernels of Python packages, captured without a GPU.

Packages run on tensors of the CPU that pass for a GPU's. A launch is compiled to PTX for the asked architecture, its
arguments and the memory behind them are written to a folder (workload.toml, kernel.ptx, *.bin), and Triton's
interpreter computes what the kernel writes, so that the package's next launch has its data. The interpreter's results
are kept beside the launch: `expect-*.bin`. With LARGE in the environment the larger calls are captured, and not
interpreted.
"""
import contextlib
import json
import os
import re
import signal
import sys
import time
import types

import numpy as np
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import autotuner, interpreter, jit

TYPES = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64", "i8": "s8", "u8": "u8", "i16": "s16",
         "u16": "u16", "i32": "s32", "u32": "u32", "i64": "s64", "u64": "u64", "i1": "u8", "u1": "u8", "fp8e4nv": "u8",
         "fp8e5": "u8"}
SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4,
         "s64": 8, "u64": 8}
SCALARS = {"i1": "u8", "u1": "u8", "fp64": "f64", "fp32": "f32", "fp16": "f32", "bf16": "f32"}
SHARED = {80: 166912, 90: 232448, 100: 232448, 120: 101376}
MOST_BYTES = 64 << 20


class TimeUp(BaseException):
    pass


@contextlib.contextmanager
def limit(seconds):
    """Of the processor's time, not the clock's. An inner limit leaves the outer one what it has not used."""
    def stop(*_):
        raise TimeUp()

    old, began = signal.signal(signal.SIGVTALRM, stop), time.process_time()
    left = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)[0]
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, old)
        signal.setitimer(signal.ITIMER_VIRTUAL, max(0.1, left - (time.process_time() - began)) if left else 0)


# ---- A GPU that is not there ----------------------------------------------------------------------------------


class Properties(types.SimpleNamespace):
    def __getattr__(self, name):
        return 0


class Driver:
    """What Triton asks of a driver before a launch."""

    def __init__(self, arch):
        self.arch = arch
        of_device = {"max_shared_mem": SHARED.get(arch, 101376), "max_num_regs": 65536, "multiprocessor_count": 132,
                     "warpSize": 32, "sm_clock_rate": 1700000, "mem_clock_rate": 2600000, "mem_bus_width": 5120}
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: of_device)
        self.launcher_cls = None

    def get_current_target(self):
        return GPUTarget("cuda", self.arch, 32)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=0):
        return 0

    def get_device_capability(self, device=0):
        return (self.arch // 10, self.arch % 10)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_device_interface(self):
        return torch.cuda

    def get_benchmarker(self):
        return lambda call, **_: [1.0, 1.0, 1.0]

    def get_empty_cache_for_benchmark(self):
        return torch.zeros(1)

    def clear_cache(self, cache):
        pass


def to_cpu(device):
    return device if device is None or torch.device(device).type == "meta" else torch.device("cpu")


class OnCpu(torch.overrides.TorchFunctionMode):
    """Tensors asked of a GPU come from the CPU; memory that would hold anything holds zeros."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "device" in kwargs and not isinstance(kwargs["device"], int):
            kwargs["device"] = to_cpu(kwargs["device"])
        name = getattr(func, "__name__", "")
        if name == "cuda":
            return args[0]
        if name == "to":
            args = tuple(torch.device("cpu") if isinstance(a, torch.device) or
                         (isinstance(a, str) and a.startswith("cuda")) else a for a in args)
        kwargs.pop("pin_memory", None)
        out = func(*args, **kwargs)
        if name in ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided") and \
                isinstance(out, torch.Tensor) and out.device.type == "cpu":
            out.zero_()
        return out


class Nothing:
    def __init__(self, *a, **k):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False

    def __getattr__(self, name):
        return lambda *a, **k: None


def pretend(arch):
    """Torch and Triton see a GPU of this architecture."""
    triton.runtime.driver.set_active(Driver(arch))
    properties = Properties(multi_processor_count=132, major=arch // 10, minor=arch % 10, name="NVIDIA H100",
                            total_memory=80 << 30, shared_memory_per_block_optin=SHARED.get(arch, 101376),
                            max_threads_per_multi_processor=2048, warp_size=32, L2_cache_size=50 << 20)
    stream = types.SimpleNamespace(cuda_stream=0, wait_stream=lambda *a: None, synchronize=lambda: None)
    c = torch.cuda
    for name in ("is_available", "is_initialized", "is_bf16_supported"):
        setattr(c, name, lambda *a, **k: True)  # one function for each: torch tells them apart by identity
    c.device_count = lambda: 1
    c.current_device = lambda: 0
    for name in ("set_device", "synchronize", "empty_cache", "init", "_lazy_init"):
        setattr(c, name, lambda *a, **k: None)
    c.get_device_capability = lambda *a, **k: (arch // 10, arch % 10)
    c.get_device_properties = lambda *a, **k: properties
    c.get_device_name = lambda *a, **k: "NVIDIA H100"
    for name in ("current_stream", "default_stream"):
        setattr(c, name, lambda *a, **k: stream)
    for name in ("device", "device_of", "stream", "Stream", "Event"):
        setattr(c, name, type(name, (Nothing,), {}))
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.Tensor.get_device = lambda self: 0
    torch.amp.autocast_mode.is_autocast_available = lambda *a: True
    os.environ["GEMS_VENDOR"] = "nvidia"  # FlagGems asks nvidia-smi otherwise
    OnCpu().__enter__()


# ---- The interpreter ------------------------------------------------------------------------------------------


class Names:
    """What the interpreter sees in place of builtins, while one kernel runs: those of triton.language, and names that
    modules of kernels took out of it."""

    def __init__(self):
        everything = types.FunctionType((lambda: None).__code__, {"tl": tl, "core": tl.core})
        self.scope, self.changed, self.seen = interpreter._patch_lang(everything), [], set()

    def patch(self, names):
        if id(names) in self.seen:
            return
        self.seen.add(id(names))
        for name, value in list(names.items()):
            new = host_value(value)
            if new is not None:
                self.changed.append((names, name, value))
                names[name] = new

    def restore(self):
        for names, name, value in reversed(self.changed):
            names[name] = value
        self.scope.restore()


def host_value(value):
    of = getattr(value, "__module__", None) or ""
    if isinstance(value, types.ModuleType) and value.__name__.startswith("triton.language.extra"):
        return types.SimpleNamespace(**{n: on_host(n) for n in dir(value) if not n.startswith("_")})
    if isinstance(value, types.ModuleType) and value.__name__ == "triton.language.math":
        return None
    if isinstance(value, types.FunctionType) and of.startswith("triton.language.extra"):
        return on_host(value.__name__)
    if isinstance(value, types.FunctionType) and of.startswith("triton.language") and tl.core.is_builtin(value):
        return lambda *a, **k: value(*a, **{**k, "_semantic": interpreter.interpreter_semantic})
    return None


NAMES = []


plain_dot = interpreter.InterpreterBuilder.create_dot


def dot(self, a, b, d, *rest):
    """The interpreter keeps bf16 as its bits, and would multiply those."""
    def wide(x):
        if x.dtype.scalar is not tl.bfloat16 and x.dtype.scalar != tl.bfloat16:
            return x
        data = interpreter._convert_float(x.data, tl.bfloat16, tl.float32, None).view(np.float32)
        return interpreter.TensorHandle(data, tl.float32)

    return plain_dot(self, wide(a), wide(b), d, *rest)


def interpret(fn, args, grid, kwargs):
    grid = tuple(grid) if isinstance(grid, list) else grid
    NAMES.append(Names())
    try:
        NAMES[-1].patch(fn.fn.__globals__)
        interpreter.InterpretedFunction(fn.fn).run(*args, grid=grid, warmup=False, **kwargs)
    finally:
        NAMES.pop().restore()


REWRITTEN = {}


def call_device_function(self, *args, **kwargs):
    """A function that a kernel calls, while the interpreter runs."""
    if not NAMES:
        raise RuntimeError("a kernel's function is called outside of a kernel")
    NAMES[-1].patch(self.fn.__globals__)
    if self.fn not in REWRITTEN:
        REWRITTEN[self.fn] = interpreter.InterpretedFunction(self.fn).rewrite()
    return REWRITTEN[self.fn](*args, **kwargs)


plain_convert = interpreter._implicit_cvt


def convert(arg):
    """The interpreter leaves floats as Python's."""
    if isinstance(arg, float):
        return tl.tensor(interpreter.TensorHandle(np.array([arg], dtype=np.float32), tl.float32), tl.float32)
    return plain_convert(arg)


LIBDEVICE = {"tanh": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "exp2": np.exp2, "log": np.log,
             "log2": np.log2, "log1p": np.log1p, "expm1": np.expm1, "sqrt": np.sqrt, "pow": np.power, "erf": None,
             "sin": np.sin, "cos": np.cos, "tan": np.tan, "abs": np.abs, "floor": np.floor, "ceil": np.ceil,
             "rint": np.rint, "nearbyint": np.rint, "round": np.rint, "trunc": np.trunc, "isnan": np.isnan,
             "isinf": np.isinf, "fast_expf": np.exp, "fast_logf": np.log, "fast_log2f": np.log2,
             "fast_tanhf": np.tanh, "fmod": np.fmod, "atan": np.arctan, "asin": np.arcsin, "acos": np.arccos,
             "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "fast_dividef": np.divide,
             "div_rn": np.divide, "fast_powf": np.power, "popc": np.bitwise_count, "float2int_rd": np.floor, "sqrt_rn": np.sqrt, "signbit": np.signbit, "isfinited": np.isfinite}


def on_host(name):
    """libdevice's function for tensors of the interpreter."""
    apply = LIBDEVICE.get(name)

    def f(*args, **kwargs):
        values = [a.handle.data if hasattr(a, "handle") else a for a in args]
        if name == "erf":
            got = torch.erf(torch.from_numpy(np.array(values[0]))).numpy()
        elif apply is None:
            raise NotImplementedError(f"libdevice {name}")
        else:
            got = apply(*values)
        first = next(a for a in args if hasattr(a, "handle"))
        dtype = tl.int1 if got.dtype == np.bool_ else first.handle.dtype
        if name in ("popc", "float2int_rd"):
            dtype, got = tl.int32, got.astype(np.int32)
        elif dtype is not tl.int1:
            got = got.astype(first.handle.data.dtype)
        handle = interpreter.TensorHandle(got, dtype)
        return tl.tensor(handle, tl.block_type(dtype, first.type.shape) if first.type.is_block() else dtype)

    return f


# ---- Launches -------------------------------------------------------------------------------------------------


def flat(x):
    return [z for y in x for z in flat(y)] if isinstance(x, (tuple, list)) else [x]


class Capture:
    def __init__(self, out, source, most, seconds):
        self.out, self.source, self.most, self.seconds = out, source, most, seconds
        self.seen, self.failures, self.kept = {}, [], []
        self.sparing = bool(os.environ.get("SPARING"))
        self.large = bool(os.environ.get("LARGE"))

    def name_of(self, fn):
        return f"{fn.fn.__module__}.{fn.fn.__qualname__}"

    def launch(self, fn, args, grid, kwargs):
        folder = None
        if self.seen.get(self.name_of(fn), 0) < self.most:
            try:
                folder = self.record(fn, args, grid, dict(kwargs))
            except Exception as e:
                why = f"{type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}"[:200]
                self.failures.append((self.name_of(fn), "not compiled", why))
        if self.large or (not folder and self.sparing):
            return  # later launches find zeros where this one would have written
        try:
            with limit(self.seconds):
                interpret(fn, args, grid, kwargs)
            if folder:
                self.expect(folder)
        except (Exception, TimeUp) as e:
            if folder:
                why = "time" if isinstance(e, TimeUp) else str(e)[:200]
                with open(folder["path"] + "/no-reference", "w") as f:
                    f.write(why + "\n")

    def record(self, fn, args, grid, kwargs):
        name = self.name_of(fn)
        kernel = fn.plain_run(*args, grid=grid, warmup=True, **kwargs)
        bound = inspect_bind(fn, args, kwargs)
        g = grid(bound) if callable(grid) else grid
        g = list(g if isinstance(g, (tuple, list)) else (g,))
        g = [int(x) for x in g] + [1] * (3 - len(g))
        if any(x < 1 for x in g):
            return None
        number = len(self.kept) + 1
        path = os.path.join(self.out, f"{number:03d}-{re.sub(r'[^A-Za-z0-9_]', '_', fn.fn.__name__)[:60]}")
        os.makedirs(path, exist_ok=True)
        meta = kernel.metadata
        ptx = kernel.asm["ptx"]
        buffers, words = self.arguments(path, kernel, bound)
        scratch = meta.global_scratch_size * g[0] * g[1] * g[2] * meta.num_ctas
        if scratch:
            buffers.append(("scratch", "u8", scratch, "zero"))
            words.append('"scratch"')
        else:
            words.append('{ type = "u64", value = 0 }')
        words.append('{ type = "u64", value = 0 }')
        with open(path + "/kernel.ptx", "w") as f:
            f.write(ptx)
        grid_x = g[0] * meta.num_ctas
        with open(path + "/workload.toml", "w") as f:
            f.write(f'title = "{self.source}: {name}"\nsource = "kernel.ptx"\n[sizes.small]\n')
            for b in buffers:
                f.write(f'\n[[buffer]]\nname = "{b[0]}"\ntype = "{b[1]}"\ncount = {b[2]}\nfill = {json.dumps(b[3])}\n')
            f.write(f'\n[[launch]]\nkernel = "{meta.name}"\ngrid = {[grid_x, g[1], g[2]]}\n'
                    f"block = [{32 * meta.num_warps * warp_groups(ptx, meta)}]\nshared = {meta.shared}\n"
                    f"args = [{', '.join(words)}]\n")
        self.seen[name] = self.seen.get(name, 0) + 1
        self.kept.append(path)
        with open(path + "/launch.json", "w") as f:
            json.dump(dict(source=self.source, name=name, kernel=meta.name, grid=[grid_x, g[1], g[2]],
                           threads=32 * meta.num_warps * warp_groups(ptx, meta), shared=meta.shared,
                           scratch=scratch, arguments=self.described), f)
        return dict(path=path, storages=dict(self.storages))

    def arguments(self, path, kernel, bound):
        """Tensors become buffers, one for each storage; scalars words."""
        self.storages, self.described = {}, []
        buffers, words = [], []
        types_of = flat(list(kernel.src.signature.values()))
        values = flat([bound[k] for k in kernel.src.signature])
        for ty, v in zip(types_of, values):
            if ty == "constexpr":
                continue
            if ty.startswith("tensordesc"):
                raise NotImplementedError("an argument is a tensor descriptor")
            if ty.startswith("*"):
                words.append(self.pointer(path, ty[1:].replace("k", ""), v, buffers))
                continue
            t = SCALARS.get(ty, TYPES.get(ty))
            if t is None:
                raise NotImplementedError(f"an argument is a {ty}")
            number = float(v) if t[0] == "f" else int(v)
            words.append(f'{{ type = "{t}", value = {number!r} }}')
            self.described.append(dict(type=t, value=number))
        return buffers, words

    def pointer(self, path, elem, v, buffers):
        v = getattr(v, "base", v) if not hasattr(v, "untyped_storage") else v
        s = v.untyped_storage()
        t = TYPES[elem]
        key = s.data_ptr()
        if key not in self.storages:
            if s.nbytes() > MOST_BYTES:
                raise NotImplementedError("an argument has over 64 MB")
            name = f"b{len(self.storages) + 1}"
            raw = np.frombuffer(bytes_of(s), dtype=np.uint8)
            n = (s.nbytes() + SIZES[t] - 1) // SIZES[t]
            raw = np.concatenate([raw, np.zeros(n * SIZES[t] - len(raw), np.uint8)]) if n * SIZES[t] > len(raw) else raw
            n = max(n, 1)
            if not len(raw):
                raw = np.zeros(SIZES[t], np.uint8)
            raw.tofile(f"{path}/{name}.bin")
            self.storages[key] = (name, t, s)
            buffers.append((name, t, n, f'file("{name}.bin")'))
        name, first, _ = self.storages[key]
        offset = v.data_ptr() - key
        self.described.append(dict(buffer=name, type=t, elem=elem, offset=offset))
        if offset == 0:
            return f'"{name}"'
        if offset % SIZES[first]:
            raise NotImplementedError("an argument lies between elements")
        return f'{{ buffer = "{name}", offset = {offset // SIZES[first]} }}'

    def expect(self, folder):
        for name, t, s in folder["storages"].values():
            np.frombuffer(bytes_of(s), dtype=np.uint8).tofile(f"{folder['path']}/expect-{name}.bin")


def bytes_of(storage):
    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy().tobytes() if storage.nbytes() else b""


def warp_groups(ptx, meta):
    m = re.search(r"\.reqntid (\d+)", ptx)
    return int(m.group(1)) // (32 * meta.num_warps) if m else 1


def inspect_bind(fn, args, kwargs):
    names = [p.name for p in fn.params]
    bound = {p.name: p.default for p in fn.params if p.has_default}
    bound.update(zip(names, args))
    bound.update({k: v for k, v in kwargs.items() if k in names})
    return bound


def install(capture):
    jit.JITFunction.plain_run = jit.JITFunction.run

    def run(self, *args, grid, warmup, **kwargs):
        if warmup:
            return self.plain_run(*args, grid=grid, warmup=True, **kwargs)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        return capture.launch(self, args, grid, kwargs)

    jit.JITFunction.run = run
    jit.JITFunction.__call__ = call_device_function
    interpreter._implicit_cvt = convert
    interpreter.InterpreterBuilder.create_dot = dot
    plain_prune = autotuner.Autotuner.prune_configs

    def prune(self, kwargs):
        """One configuration: nothing can be timed."""
        configs = plain_prune(self, kwargs)
        small = sorted(configs, key=lambda c: (c.num_warps > 4, c.num_stages))
        return small[:1]

    autotuner.Autotuner.prune_configs = prune

    def stages(*args):
        if not args:
            return "ptx", "ptx"
        args[1]["cubin"] = lambda src, metadata: b"none"

    triton.knobs.runtime.add_stages_inspection_hook = stages


def main():
    out, source, arch, names = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    os.makedirs(out, exist_ok=True)
    pretend(arch)
    import cases
    capture = Capture(out, source, most=1, seconds=int(os.environ.get("SECONDS_EACH", "15")))
    install(capture)
    for label, call in cases.of(source):
        if names and label not in names:
            continue
        torch.manual_seed(1)
        began, before = time.time(), len(capture.kept)
        try:
            with limit(int(os.environ.get("SECONDS_CASE", "120"))):
                call()
            end = "ran"
        except (Exception, TimeUp) as e:
            end = f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:160]
        print(f"{source} {label}: {len(capture.kept) - before} kernels, {time.time() - began:.0f} s, {end}", flush=True)
    for name, what, why in capture.failures:
        print(f"{source} {name}: {what}: {why}", flush=True)
    with open(os.path.join(out, "failures.json"), "w") as f:
        json.dump(capture.failures, f)


if __name__ == "__main__":
    main()

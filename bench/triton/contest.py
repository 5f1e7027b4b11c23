"""All versions of a product take turns: kernels as PTX files, through the driver alone.

    contest.py SIZE ROUNDS OUT NAME@@PTX:SCHEDULE...     SCHEDULE: grid, persistent or tma

A kernel that heddle rewrote with bind=claim gets the state that the comments behind its text ask for; one that needs a
table or another grid is left out.

Matrices are SIZE x SIZE. Every result is compared, byte for byte, with the first version's. Speedups are medians over
rounds, over the first version of the same schedule; heddle's versions are compared with the best of the others, too.
"""
import ctypes
import re
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

SHARED = {"grid": 147456, "persistent": 147456, "tma": 213016}  # bytes that Triton's launcher adds

begin = time.time()
size, rounds, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
cu = ctypes.CDLL("libcuda.so.1")
u64, u32, vp = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p


def ok(rc, what):
    if rc:
        raise RuntimeError(f"{what}: CUDA error {rc}")


ok(cu.cuInit(0), "cuInit")
device, ctx = ctypes.c_int(), vp()
ok(cu.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), device), "retain")
ok(cu.cuCtxSetCurrent(ctx), "current")
sms = ctypes.c_int()
ok(cu.cuDeviceGetAttribute(ctypes.byref(sms), 16, device), "sms")


def alloc(n):
    p = u64()
    ok(cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(n)), "cuMemAlloc")
    return p.value


def upload(p, a):
    ok(cu.cuMemcpyHtoD_v2(u64(p), a.ctypes.data_as(vp), ctypes.c_size_t(a.nbytes)), "upload")


def fill(p, n, seed):
    """Normal numbers, rounded down to bf16; quarters differ by a factor, so that no tile's result is another's."""
    piece = max(n // 4, 1)
    x = np.random.default_rng(seed).standard_normal(piece, dtype=np.float32)
    for q in range(4):
        y = (x * np.float32(1 + q / 8)).view(np.uint32)
        upload(p + 2 * q * piece, (y >> 16).astype(np.uint16))


n = size * size
a, b, c = alloc(2 * n), alloc(2 * n), alloc(2 * n)
fill(a, n, 1)
fill(b, n, 2)


def tensor_map(p, rows, cols, box_rows, box_cols):
    raw = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(raw) + 63) & ~63
    # bf16, two dimensions; not interleaved, swizzled by 128 bytes, L2 promotion of 128 bytes, zeros outside
    ok(cu.cuTensorMapEncodeTiled(vp(at), 9, 2, vp(p), (u64 * 2)(cols, rows), (u64 * 1)(2 * cols),
                                 (u32 * 2)(box_cols, box_rows), (u32 * 2)(1, 1), 0, 3, 2, 0), "cuTensorMapEncodeTiled")
    return raw, at


class Version:
    def __init__(self, text):
        self.name, rest = text.split("@@", 1)
        self.path, self.schedule = rest.rsplit(":", 1)
        self.us = []

    def load(self):
        ok(cu.cuCtxSetCurrent(ctx), "current")
        ptx = open(self.path).read()
        self.threads = int(re.search(r"\.reqntid (\d+)", ptx)[1])
        self.shared = SHARED[self.schedule]
        module, self.f = vp(), vp()
        t = time.time()
        ok(cu.cuModuleLoadData(ctypes.byref(module), ptx.encode() + b"\0"), f"load {self.path}")
        entry = re.search(r"\.entry (\w+)", ptx)[1]
        ok(cu.cuModuleGetFunction(ctypes.byref(self.f), module, entry.encode()), "get " + entry)
        ok(cu.cuFuncSetAttribute(self.f, 8, self.shared), "shared")
        regs = ctypes.c_int()
        ok(cu.cuFuncGetAttribute(ctypes.byref(regs), 4, self.f), "registers")
        self.registers, self.loading = regs.value, time.time() - t
        self.grid = sms.value if self.schedule != "grid" else -(-size // 128) * -(-size // 256)
        self.keep = []
        if self.schedule == "tma":
            self.args = []
            for p, rows, cols in ((a, 128, 64), (b, 64, 64), (c, 128, 64)):
                raw, at = tensor_map(p, size, size, rows, cols)
                self.keep.append(raw)
                sizes, strides = [self.word(ctypes.c_int32(size))] * 2, (ctypes.c_int64(size), ctypes.c_int64(1))
                self.args += [at, *sizes, *map(self.word, strides)]
        else:
            self.args = [self.word(u64(p)) for p in (a, b, c)]
        self.args += [self.word(ctypes.c_int32(size))] * 3 + [self.word(u64(0))] * 2
        if re.search(r"^//.*(order's table|grid of one dimension)", ptx, re.M):
            raise RuntimeError("needs a table or another grid")
        state = re.search(r"//   \.u64 at \d+: the address of (\d+) bytes of device memory, zero at first", ptx)
        if state:
            at = alloc(int(state[1]))
            ok(cu.cuMemsetD8_v2(u64(at), 0, ctypes.c_size_t(int(state[1]))), "clear")
            self.args.append(self.word(u64(at)))
        self.params = (vp * len(self.args))(*self.args)

    def word(self, x):
        self.keep.append(x)
        return ctypes.addressof(x)

    def launch(self):
        ok(cu.cuLaunchKernel(self.f, self.grid, 1, 1, self.threads, 1, 1, self.shared, None, self.params, None),
           "launch " + self.name)


versions = [Version(t) for t in sys.argv[4:]]


def load(v):
    try:
        v.load()
    except Exception as e:
        v.error = str(e)


with ThreadPoolExecutor(8) as pool:
    list(pool.map(load, versions))
for v in versions:
    if hasattr(v, "error"):
        print("LEFT OUT", v.name, v.error)
versions = [v for v in versions if not hasattr(v, "error")]
print(f"loaded {len(versions)} versions after {time.time() - begin:.1f} s")

events = [vp(), vp()]
for e in events:
    ok(cu.cuEventCreate(ctypes.byref(e), 0), "event")


def timed(v):
    ok(cu.cuEventRecord(events[0], None), "record")
    v.launch()
    ok(cu.cuEventRecord(events[1], None), "record")
    ok(cu.cuEventSynchronize(events[1]), "synchronize " + v.name)
    ms = ctypes.c_float()
    ok(cu.cuEventElapsedTime(ctypes.byref(ms), events[0], events[1]), "elapsed")
    return ms.value * 1000


want = got = None
kept = []
for v in versions:
    ok(cu.cuMemsetD8_v2(u64(c), 0xA5, ctypes.c_size_t(2 * n)), "poison")
    timed(v)
    got = np.empty(n, np.uint16)
    ok(cu.cuMemcpyDtoH_v2(got.ctypes.data_as(vp), u64(c), ctypes.c_size_t(2 * n)), "read")
    if want is None:
        want, got = got, None
    v.same = got is None or np.array_equal(want, got)
    if not v.same:
        print("DIFFERENT", v.name, int((want != got).sum()), "elements")
    kept.append(v)
print(f"{sum(v.same for v in kept)} of {len(kept)} versions compute the same bytes, after {time.time() - begin:.1f} s")
for r in range(rounds):
    order = kept[r % len(kept):] + kept[:r % len(kept)]
    for v in order:
        v.us.append(timed(v))


def ratio(x, y):
    """Median over rounds of how much faster x is than y, with the quartiles."""
    q = sorted(j / i for i, j in zip(x.us, y.us))
    return statistics.median(q), q[len(q) // 4], q[-1 - len(q) // 4]


with open(out, "w") as f:
    def say(*words):
        print(*words)
        print(*words, file=f)
    say(f"size {size}, {len(kept[0].us)} rounds in turns")
    for schedule in ("grid", "persistent", "tma"):
        mine = [v for v in kept if v.schedule == schedule]
        if not mine:
            continue
        say(f"{schedule}:")
        for v in mine:
            us = statistics.median(v.us)
            m, low, high = ratio(v, mine[0])
            say(f"  {v.name:44} {us:10.1f} us {2 * size ** 3 / us / 1e6:7.1f} TFLOP/s"
                f"  {m:.3f}x of {mine[0].name} ({low:.3f} to {high:.3f}) "
                f" {v.registers} regs, load {v.loading:.1f} s{'' if v.same else '  DIFFERENT'}")
        source = [v for v in mine if not v.name.startswith("heddle")]
        best = min(source, key=lambda v: statistics.median(v.us))
        for v in mine:
            if v.name.startswith("heddle"):
                base = next((s for s in source if s.name == v.name.split("/")[1]), mine[0])
                for other in (base, best):
                    m, low, high = ratio(v, other)
                    which = " (best by source)" if other is best else ""
                    say(f"  {v.name} over {other.name}{which}: {m:.3f}x ({low:.3f} to {high:.3f})")
print(f"done after {time.time() - begin:.1f} s")

"""Runs captured launches by the CUDA driver, which is heddle's emulator under `heddle emu`, and compares what they write
with what Triton's interpreter computed: emulate.py FOLDER... writes a word and a figure into each FOLDER/emulated."""
import ctypes
import json
import os
import sys

import numpy as np

NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s8": np.int8, "u8": np.uint8, "s16": np.int16,
         "u16": np.uint16, "s32": np.int32, "u32": np.uint32, "s64": np.int64, "u64": np.uint64}
# Of the largest number of a buffer: products by tf32 and other orders of sums are as far off.
NEAR = {"f16": 4e-3, "bf16": 2e-2, "f32": 4e-3, "f64": 1e-6}


def call(cuda, name, *args):
    code = getattr(cuda, name)(*args)
    if code:
        raise RuntimeError(f"{name}: error {code}")


def numbers(raw, elem):
    if elem == "bf16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return raw.view(NUMPY[elem])


def codes(raw):
    """Bytes of an 8-bit float, in its order."""
    x = raw.astype(np.int16)
    return np.where(x < 128, x, 128 - x)


def differ(got, want, elem):
    """How far apart, as a part of the largest number; 0: alike."""
    if np.array_equal(got, want):
        return 0.0
    size = 2 if elem == "bf16" else np.dtype(NUMPY.get(elem, np.uint8)).itemsize
    n = len(want) // size
    if elem in ("fp8e4nv", "fp8e5"):  # one number apart: conversions round halves in another way
        return 0.0 if np.max(np.abs(codes(got) - codes(want))) <= 1 else 1.0
    a, b = numbers(got[:n * size].copy(), elem), numbers(want[:n * size].copy(), elem)
    if elem not in NEAR:
        return float(np.count_nonzero(a != b)) / max(1, len(a))
    a, b = a.astype(np.float64), b.astype(np.float64)
    same = (np.isnan(a) & np.isnan(b)) | (a == b)
    if np.any(np.isfinite(a) != np.isfinite(b)):
        return float("inf")
    d = np.where(same, 0, np.abs(a - b))
    top = np.max(np.abs(b[np.isfinite(b)]), initial=0)
    return float(np.max(d, initial=0) / (top if top > 0 else 1))


def run(cuda, folder, ptx):
    with open(f"{folder}/launch.json") as f:
        launch = json.load(f)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(ptx, "rb") as f:
        call(cuda, "cuModuleLoadData", ctypes.byref(module), f.read() + b"\0")
    call(cuda, "cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
    if launch["shared"] > 49152:
        call(cuda, "cuFuncSetAttribute", function, 8, launch["shared"])
    memory, packed = {}, []
    for a in launch["arguments"]:
        if "buffer" not in a:
            packed.append(np.array([a["value"]], dtype=NUMPY[a["type"]]))
            continue
        if a["buffer"] not in memory:
            raw = np.fromfile(f"{folder}/{a['buffer']}.bin", dtype=np.uint8)
            at = ctypes.c_uint64()
            call(cuda, "cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(raw)))
            call(cuda, "cuMemcpyHtoD_v2", at, raw.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(raw)))
            elem = a.get("elem", "")
            memory[a["buffer"]] = (at, len(raw), elem if elem.startswith("fp8") else a["type"])
        packed.append(np.array([memory[a["buffer"]][0].value + a["offset"]], dtype=np.uint64))
    scratch = ctypes.c_uint64()
    if launch.get("scratch"):
        call(cuda, "cuMemAlloc_v2", ctypes.byref(scratch), ctypes.c_size_t(launch["scratch"]))
    packed += [np.array([scratch.value], dtype=np.uint64), np.array([0], dtype=np.uint64)]
    pointers = (ctypes.c_void_p * len(packed))(*[p.ctypes.data for p in packed])
    call(cuda, "cuLaunchKernel", function, *launch["grid"], launch["threads"], 1, 1, launch["shared"], None, pointers, None)
    call(cuda, "cuCtxSynchronize")
    out = {}
    for name, (at, n, elem) in memory.items():
        raw = np.zeros(n, dtype=np.uint8)
        call(cuda, "cuMemcpyDtoH_v2", raw.ctypes.data_as(ctypes.c_void_p), at, ctypes.c_size_t(n))
        out[name] = (raw, elem)
    return out


def judge(folder, out):
    worst, wrong = 0.0, ""
    if not os.path.exists(f"{folder}/expect-{next(iter(out))}.bin"):
        return "no reference", 0.0, ""
    narrowest = max([NEAR.get(elem, 0.0) for _, elem in out.values()], default=0.0)
    for name, (raw, elem) in out.items():
        want = np.fromfile(f"{folder}/expect-{name}.bin", dtype=np.uint8)
        d = differ(raw[:len(want)], want, elem)
        worst = max(worst, d)
        if d > (narrowest if elem in NEAR else 0.0):
            wrong = f"{name} of {elem} is off by {d:.2g}"
    return ("differs" if wrong else "right"), worst, wrong


def main():
    cuda = ctypes.CDLL("libcuda.so.1")
    call(cuda, "cuInit", 0)
    device = ctypes.c_int()
    call(cuda, "cuDeviceGet", ctypes.byref(device), 0)
    for folder in sys.argv[1:]:
        context = ctypes.c_void_p()
        call(cuda, "cuCtxCreate_v2", ctypes.byref(context), 0, device)
        try:
            word, worst, why = judge(folder, run(cuda, folder, f"{folder}/kernel.ptx"))
        except (RuntimeError, OSError, KeyError) as e:
            word, worst, why = "failed", 0.0, str(e)
        cuda.cuCtxDestroy_v2(context)
        with open(f"{folder}/emulated", "w") as f:
            json.dump(dict(word=word, worst=worst, why=why), f)


if __name__ == "__main__":
    main()

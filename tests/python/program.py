"""A CUDA program without a toolkit: PTX launched through the driver by ctypes. program.py PTX KERNEL TURNS"""

import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    code = getattr(cuda, name)(*args)
    if code:
        sys.exit(f"{name}: {code}")


def main(path, kernel, turns, n=1024):
    context, module, function, at = (ctypes.c_void_p() for _ in range(4))
    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    with open(path, "rb") as f:
        call("cuModuleLoadData", ctypes.byref(module), f.read() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(4 * n))
    call("cuMemsetD32_v2", at, 0, ctypes.c_size_t(n))
    params = (ctypes.c_void_p * 1)(ctypes.addressof(at))
    for _ in range(int(turns)):
        call("cuLaunchKernel", function, 7, 3, 1, 1, 1, 1, 0, None, params, None)
    out = (ctypes.c_uint32 * n)()
    call("cuMemcpyDtoH_v2", out, at, ctypes.c_size_t(4 * n))
    print(sum(out))


main(*sys.argv[1:])

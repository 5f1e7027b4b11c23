"""Runs the pages of docs/frameworks: their files, then their commands, whose output must be the page's.

  with_frameworks.py HEDDLE PAGES [NAME...]

Where there is no GPU, CuPy and Numba run on heddle's emulator; PyTorch and JAX are left out. Exit code 77: no page ran.
"""

import ctypes
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEDDLE, PAGES = sys.argv[1], pathlib.Path(sys.argv[2])
NEEDS = {"cupy": ("cupy",), "numba": ("numba_cuda", "cuda"), "pytorch": ("torch", "triton"), "jax": ("jax",)}
EMULATED = ("cupy", "numba")


def has_gpu():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def steps(page):
    """[(command, its output), ...]"""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.S | re.M):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def alike(text):
    """Inductor numbers and names its kernels by its version's rules, and may make several of one."""
    lines = re.sub(r"\btriton_\w+", "triton_kernel", text).splitlines()
    return [line for i, line in enumerate(lines) if line not in lines[:i]]


def run(name, gpu):
    page = (PAGES / f"{name}.md").read_text()
    how = "" if gpu else f"{HEDDLE} emu --gpu h100 -- "
    with tempfile.TemporaryDirectory() as folder:
        for file, text in re.findall(r"^```python\n# (\S+)\n(.*?)^```", page, re.S | re.M):
            pathlib.Path(folder, file).write_text(text)
        commands = steps(page)
        script = f'python() {{ {how}{sys.executable} "$@"; }}\n' + "".join(f"{c}\necho :: $?\n" for c, _ in commands)
        r = subprocess.run(["bash", "-c", script], cwd=folder, env=dict(os.environ, TRITON_CACHE_DIR=folder + "/triton"),
                           capture_output=True, text=True, timeout=240)  # fmt: skip
    wanted = "".join(f"{out}:: 0\n" for _, out in commands)
    if commands and alike(r.stdout) == alike(wanted):
        print(f"ok      {name}{'' if gpu else ', emulated'}", flush=True)
        return True
    print(f"FAILED  {name}\n{r.stdout}{r.stderr[-4000:]}", flush=True)
    return False


gpu, ran, failed = has_gpu(), 0, 0
for name in sys.argv[3:] or NEEDS:
    missing = [m for m in NEEDS[name] if not importlib.util.find_spec(m)]
    if name == "cupy" and not shutil.which("nvcc"):
        missing.append("nvcc")
    if not gpu and name not in EMULATED:
        missing.append("GPU")
    if missing:
        print(f"left out: {name}, no {', '.join(missing)}", flush=True)
        continue
    ran += 1
    failed += not run(name, gpu)
if not ran:
    print("skipped: no page can run here")
sys.exit(1 if failed else 0 if ran else 77)

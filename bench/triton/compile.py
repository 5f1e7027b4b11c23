"""Compile the kernels to PTX for sm_90a, without a GPU, a workload for each: compile.py OUT. See docs/triton.md."""
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Two of the layers are kernels of the corpus, in larger blocks.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "corpus/triton/sources"))
import kernels
import layers

OUT = pathlib.Path(sys.argv[1])
TILE = {"BM": 128, "BN": 256, "BK": 64}
POINTERS = "*bf16 *bf16 *bf16 i32 i32 i32"
MAPS = "tensordesc<bf16[128,64]> tensordesc<bf16[64,256]> tensordesc<bf16[128,256]> i32 i32 i32"
SIZES = '{ type = "s32", value = "m" }, { type = "s32", value = "n" }, { type = "s32", value = "k" }'
NULLS = '{ type = "u64", value = 0 }, { type = "u64", value = 0 }'  # scratch memory, of which there is none
TOML = """title = "C = A B by Triton, bf16, {name}"
source = "kernel.ptx"

[sizes.tiny]
m = 144
n = 272
k = 80
programs = 2

[sizes.small]
m = 400
n = 528
k = 144
programs = 4

[sizes.gpu]
m = 16384
n = 16384
k = 16384
programs = 132

{buffers}
[[launch]]
kernel = "{kernel}"
grid = [{grid}]
block = [256]
shared = {shared}
args = [{args}]
"""
BUFFER = '[[buffer]]\nname = "{}"\ntype = "bf16"\ncount = "{}"\n{}\n'
BUFFERS = "\n".join(BUFFER.format(*b) for b in (("a", "m * k", 'fill = "uniform_int(-8, 8)"'),
                                                ("b", "k * n", 'fill = "uniform_int(-8, 8)"'),
                                                ("c", "m * n", 'compare = "exact"')))


def maps(meta):
    for name, (rows, columns), box in zip("abc", ("mk", "kn", "mn"), meta):
        swizzle = ["none", "32B", "64B", "128B"][box["swizzle"]]
        yield (f'{{ tensormap = "{name}", shape = ["{rows}", "{columns}"], box = {box["block_size"]}, '
               f'swizzle = "{swizzle}" }}, '
               f'{{ type = "s32", value = "{rows}" }}, {{ type = "s32", value = "{columns}" }}, '
               f'{{ type = "s64", value = "{columns}" }}, {{ type = "s64", value = 1 }}')


def compiled_ptx(kernel, constants, types, options, odd=()):
    """Its PTX without line numbers and debug sections, and what the compiler says of its launch. Pointers and numbers
    but the odd ones are multiples of 16."""
    types = iter(types.split())
    signature = {n: "constexpr" if n in constants else next(types) for n in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names)
               if signature[n][0] == "*" or signature[n] == "i32" and n not in odd}
    compiled = triton.compile(ASTSource(kernel, signature, constexprs=constants, attrs=aligned),
                              target=GPUTarget("cuda", 90, 32), options=options)
    ptx = re.sub(r"\n\s*\.section\s[^{]*\{[^}]*\}", "", compiled.asm["ptx"])
    ptx = re.sub(r"^\s*\.(loc|file)\s.*\n", "", re.sub(r"\s*//.*", "", ptx), flags=re.M)
    ptx = re.sub(r"^\$L__(tmp|func_begin|func_end|info_string)\d+:\n|, debug", "", ptx, flags=re.M)
    return re.sub(r"\n\s*\n+", "\n", ptx).strip() + "\n", compiled.metadata


def write(name, ptx, toml):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.ptx").write_text(ptx)
    (folder / "workload.toml").write_text(toml)


def build(name, kernel, group, columns=False, types=POINTERS, grid='"programs"'):
    ptx, meta = compiled_ptx(kernel, TILE | {"GROUP": group, "COLUMNS": columns}, types,
                             {"num_warps": 8, "num_stages": 3})
    args = ", ".join([*(maps(meta.tensordesc_meta) if meta.tensordesc_meta else ('"a", "b", "c"',)), SIZES, NULLS])
    write(name, ptx, TOML.format(name=name, buffers=BUFFERS, kernel=meta.name, grid=grid, shared=meta.shared,
                                 args=args))


def build_layer(name, kernel, constants, types, options, sizes, buffers, grid, args, odd=()):
    ptx, meta = compiled_ptx(kernel, constants, types, options, odd)
    parts = [f'title = "{name} by Triton, bf16"\nsource = "kernel.ptx"\n']
    parts += [f"[sizes.{size}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for size, of in sizes.items()]
    quoted = [a if a.startswith("{") else f'"{a}"' for a in args]
    parts += [*buffers, f'[[launch]]\nkernel = "{meta.name}"\ngrid = [{grid}]\nblock = [{32 * meta.num_warps}]\n'
              f'shared = {meta.shared}\nargs = [{", ".join([*quoted, NULLS])}]\n']
    write(name, ptx, "\n".join(parts))


for group in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 32):
    build("rows" if group == 1 else f"group-{group}", kernels.gemm, group, grid='"ceil_div(m, 128) * ceil_div(n, 256)"')
for group in (2, 3, 4, 6, 8, 16):
    build(f"columns-{group}", kernels.gemm, group, True, grid='"ceil_div(m, 128) * ceil_div(n, 256)"')
for group in (1, 4, 8, 16):
    build(f"persistent-{group}", kernels.gemm_persistent, group)
    build(f"tma-{group}", kernels.gemm_tma_persistent, group, types=MAPS)
for name, layer in layers.LAYERS.items():
    build_layer(name, **layer)

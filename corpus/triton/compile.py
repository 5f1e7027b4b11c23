"""Compile the kernels of sources/ to PTX, without a GPU, and write a workload for each: see scripts/corpus."""
import importlib.util
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = pathlib.Path(__file__).resolve().parent
NULL = '{ type = "u64", value = 0 }'  # what the launcher passes where no scratch memory is needed


def modules():
    for path in sorted((HERE / "sources").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def compile_for(folder, sm):
    """As the launcher does when all pointers and sizes are multiples of 16."""
    kernel, constants, types = folder["kernel"], folder["constants"], iter(folder["args"].split())
    signature = {name: "constexpr" if name in constants else next(types) for name in kernel.arg_names}
    aligned = [["tt.divisibility", 16]]
    attributes = {(i,): aligned for i, name in enumerate(kernel.arg_names)
                  if signature[name][0] == "*" or signature[name] == "i32" and name not in folder.get("odd", ())}
    options = {"num_warps": folder.get("num_warps", 4), "num_stages": folder.get("num_stages", 2),
               "num_ctas": folder.get("num_ctas", 1)}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", sm, 32), options=options)


def bare(ptx):
    """Without line numbers, debug sections and comments, which hold paths and versions of the tools."""
    ptx = re.sub(r"\n\s*\.section\s[^{]*\{[^}]*\}", "", ptx)
    ptx = re.sub(r"^\s*\.(loc|file)\s.*\n", "", ptx, flags=re.M)
    ptx = re.sub(r"\s*//.*", "", ptx)
    ptx = re.sub(r"^\$L__(tmp|func_begin|func_end|info_string)\d+:\n", "", ptx, flags=re.M)
    return re.sub(r"\n\s*\n+", "\n", ptx).strip() + "\n"


def parameters_of(type):
    """A tensor descriptor becomes its map, its sizes and its strides."""
    return 1 + 2 * (type.count(",") + 1) if type.startswith("tensordesc") else 1


def write(name, folder, sm):
    if sm < folder.get("least", 80):
        return
    compiled = compile_for(folder, sm)
    ptx, meta = bare(compiled.asm["ptx"]), compiled.metadata
    assert meta.profile_scratch_size == 0
    parameters = re.search(r"\.entry \w+\(([^)]*)\)", ptx)[1].count(".param ")
    hidden = parameters - sum(map(parameters_of, folder["args"].split()))
    values = {"KERNEL": meta.name, "THREADS": 32 * meta.num_warps, "SHARED": meta.shared,
              "SCRATCH": meta.global_scratch_size}
    scratch = ['"scratch"' if meta.global_scratch_size else NULL, NULL]
    assert hidden == len(scratch)
    values["HIDDEN"] = ", ".join(scratch)
    for i, tensor in enumerate(meta.tensordesc_meta or []):
        values |= {f"BOX{i}": tensor["block_size"], f"SWIZZLE{i}": ["none", "32B", "64B", "128B"][tensor["swizzle"]]}
    text = (HERE / "sources" / f"{name}.toml").read_text()
    if not meta.global_scratch_size:
        text = re.sub(r"^@IF_SCRATCH@.*\n", "", text, flags=re.M)
    text = text.replace("@IF_SCRATCH@", "")
    text = re.sub(r"@(\w+)@", lambda m: str(values[m[1]]), text)
    out = HERE / f"{name}-sm{sm}"
    out.mkdir(exist_ok=True)
    (out / "kernel.ptx").write_text(ptx)
    (out / "workload.toml").write_text(f"# Written by scripts/corpus from ../sources/{name}.toml.\n" + text)
    print(f"{out.name}: {len(ptx)} bytes")


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for module in modules():
        for name, folder in module.FOLDERS.items():
            for sm in (80, 90):
                if not wanted or name in wanted:
                    write(name, folder, sm)

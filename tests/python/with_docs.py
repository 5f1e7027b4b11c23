"""Runs what docs/python.md and examples/python show.

  with_docs.py docs        the page's examples, as doctests
  with_docs.py notebook    the notebooks, by nbclient and ipykernel where they are, else their cells one after the other
  with_docs.py types       mypy --strict on the package, the script, and the notebooks' cells

Exit code 77: a tool is missing; a line says which.
"""

import doctest
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/python"


def need(*modules):
    missing = [m for m in modules if not importlib.util.find_spec(m)]
    if missing:
        print(f"skipped: {', '.join(missing)} is not installed for {sys.executable}")
        sys.exit(77)


def run_docs():
    need("numpy")
    page = (ROOT / "docs/python.md").read_text()
    blocks = re.sub(r"^```.*$", "", "\n".join(re.findall(r"^```pycon\n.*?^```", page, re.S | re.M)), flags=re.M)
    test = doctest.DocTestParser().get_doctest(blocks, {}, "docs/python.md", "docs/python.md", 0)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        os.chdir(folder)
        failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test)
        os.chdir(ROOT)
    print(f"docs/python.md: {tried} examples")
    return failed == 0 and tried > 20


def cells(path):
    return ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


def by_kernel(path):
    """As Jupyter runs it; the number of results that are shown as pages."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    return sum("text/html" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", []))


def by_exec(path):
    """The same without Jupyter: the last expression of a cell is what it shows."""
    import ast

    names, pages = {"__name__": "__main__"}, 0
    os.chdir(path.parent)
    for cell in cells(path):
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), names)
        if last:
            shown = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
            pages += "<iframe" in getattr(shown, "_repr_html_", str)()
    return pages


def run_notebook():
    need("numpy")
    jupyter = all(importlib.util.find_spec(m) for m in ("nbclient", "nbformat", "ipykernel"))
    paths = sorted(EXAMPLES.glob("*.ipynb"))
    shown = {p.name: (by_kernel if jupyter else by_exec)(p) for p in paths}
    print(f"{'nbclient' if jupyter else 'cells alone, without nbclient and ipykernel'}: pages shown: {shown}")
    return bool(paths) and all(shown.values())


def run_types():
    need("numpy", "mypy")
    package = ROOT / "python/heddle"
    with tempfile.TemporaryDirectory() as folder:
        for path in EXAMPLES.glob("*.ipynb"):
            pathlib.Path(folder, path.stem + "_notebook.py").write_text("\n".join(cells(path)) + "\n")
        files = [*EXAMPLES.glob("*.py"), *pathlib.Path(folder).glob("*.py")]
        files += [f for f in sorted(package.glob("*.py*")) if "triton" not in f.name]  # which need Triton's types
        r = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, *map(str, files)],
                           cwd=ROOT, env=dict(os.environ, MYPYPATH=str(ROOT / "python")))  # fmt: skip
    return r.returncode == 0


WAYS = {"docs": run_docs, "notebook": run_notebook, "types": run_types}
if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    sys.exit(0 if WAYS[sys.argv[1]]() else 1)

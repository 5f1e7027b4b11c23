"""The tables of docs/kernels.md: summary.py PAGE KERNELS PREDICTED JUDGED puts them between their marks.

KERNELS is what table.py writes, PREDICTED what predict.py writes, and JUDGED a line for each answer of heddle's that a
reader of the kernel's PTX judged: source, kernel, plan, answer, the reason that heddle gave, whether it is true, and why.
"""
import csv
import re
import sys


def read(path):
    with open(path) as f:
        return list(csv.DictReader(f))


def count(rows, f):
    return sum(1 for r in rows if f(r))


def is_win(cell):
    """predict.py leaves a cell empty where no plan is expected to win."""
    return bool(re.match(r"[0-9.]+x ", cell))


def wins(predicted, gpu):
    answered = [r for r in predicted if not r[gpu].startswith("no answer")]
    return f"{count(answered, lambda r: is_win(r[gpu]))} of {len(answered)}" if answered else "-"


def line(name, rows, predicted, gpus):
    divided = [r for r in rows if r["ids"]]
    judged = [r for r in rows if r["emulated"].startswith(("right", "differs", "failed"))]
    alone = [r for r in rows if r["emulated"].startswith("no reference") and r["reordered"]]
    return (f"| {name} | {len({(r['source'], r['kernel']) for r in rows})} | {count(rows, lambda r: r['read'] == 'yes')} "
            f"| {count(divided, lambda r: r['shape'] != 'not found')} of {len(divided)} "
            f"| {count(rows, lambda r: 'order=reverse' in r['accepted'])} | {count(rows, lambda r: 'bind=claim' in r['accepted'])} "
            f"| {count(rows, lambda r: 'bind=agents' in r['accepted'])} | {count(rows, lambda r: 'prefetch' in r['accepted'])} "
            f"| {count(judged, lambda r: r['emulated'] == 'right')} of {len(judged)} "
            f"| {count(alone, lambda r: r['reordered'] == 'equal')} of {len(alone)} | " +
            " | ".join(wins(predicted, g) for g in gpus) + " |")


def sources(rows, predicted):
    gpus = [k for k in predicted[0] if k not in ("source", "kernel", "grid")]
    out = ["| source | kernels | read | shapes of divided ids | orders | claims | agents | prefetching | emulated as the "
           "interpreter | else equal in reverse order | " + " | ".join(f"wins on {g}" for g in gpus) + " |",
           "| --- |" + " ---: |" * (9 + len(gpus))]
    for source in sorted({r["source"] for r in rows}):
        own = [r for r in predicted if r["source"] == source]
        out.append(line(source, [r for r in rows if r["source"] == source], own, gpus))
    return out + [line("all", rows, predicted, gpus)]


def judgements(rows):
    out = ["| plan | answer | because | kernels | true |", "| --- | --- | --- | ---: | ---: |"]
    kinds = list(dict.fromkeys((r["plan"], r["answer"], r["reason"]) for r in rows))
    for kind in kinds:
        own = [r for r in rows if (r["plan"], r["answer"], r["reason"]) == kind]
        out.append(f"| `{kind[0]}` | {kind[1]} | {kind[2] or '-'} | {len(own)} | {count(own, lambda r: r['true'] == 'yes')} |")
    return out + [f"| all | | | {len(rows)} | {count(rows, lambda r: r['true'] == 'yes')} |"]


def put(text, mark, lines):
    """The page with these lines between its two marks."""
    out, n = re.subn(rf"(?s)(<!-- {mark}: by [^\n]*-->\n).*?(<!-- end of {mark} -->)",
                     lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), text, count=1)
    if not n:
        sys.exit(f"the page has no place for {mark}")
    return out


def main():
    page, kernels, predicted, judged = sys.argv[1:5]
    with open(page) as f:
        text = f.read()
    text = put(text, "sources", sources(read(kernels), read(predicted)))
    text = put(text, "judged", judgements(read(judged)))
    with open(page, "w") as f:
        f.write(text)


if __name__ == "__main__":
    main()

"""The table of docs/kernels.md from the CSV that table.py writes: summary.py CSV."""
import csv
import sys


def count(rows, f):
    return sum(1 for r in rows if f(r))


def line(name, rows):
    divided = [r for r in rows if r["ids"]]
    judged = [r for r in rows if r["emulated"].startswith(("right", "differs", "failed"))]
    alone = [r for r in rows if r["emulated"].startswith("no reference") and r["reordered"]]
    return (f"| {name} | {len({(r['source'], r['kernel']) for r in rows})} | {count(rows, lambda r: r['read'] == 'yes')} "
            f"| {count(divided, lambda r: r['shape'] != 'not found')} of {len(divided)} "
            f"| {count(rows, lambda r: 'order=reverse' in r['accepted'])} | {count(rows, lambda r: 'bind=claim' in r['accepted'])} "
            f"| {count(rows, lambda r: 'bind=agents' in r['accepted'])} | {count(rows, lambda r: 'prefetch' in r['accepted'])} "
            f"| {count(judged, lambda r: r['emulated'] == 'right')} of {len(judged)} "
            f"| {count(alone, lambda r: r['reordered'] == 'equal')} of {len(alone)} |")


def main():
    with open(sys.argv[1]) as f:
        rows = list(csv.DictReader(f))
    print("| source | kernels | read | shapes of divided ids | orders | claims | agents | prefetching | emulated as the "
          "interpreter | else equal in reverse order |")
    print("| --- |" + " ---: |" * 9)
    for source in sorted({r["source"] for r in rows}):
        print(line(source, [r for r in rows if r["source"] == source]))
    print(line("all", rows))


if __name__ == "__main__":
    main()

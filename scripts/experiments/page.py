"""Chapters: their text, tables and plots, and numbers as they stand in tables."""
import csv
import os
import textwrap


def percent(x):
    return "-" if x is None else f"{100 * x:.0f}%"


def change(x):
    return "-" if x is None else f"{100 * (x - 1):+.0f}%"


def times(x):
    return "-" if x is None else f"{x:.2f}x"


def mean_text(of, values, all_):
    """A mean, and of how many where some of them are not known."""
    known, value = sum(v is not None for v in values), of(values)
    return times(value) + (f" (of {known})" if value and known < all_ else "")


def waves_text(x):
    return "-" if x is None else f"{x:.0f}" if x >= 10 else f"{x:.1f}" if x >= 0.1 else f"{x:.2f}"


def waits(row):
    """What warps wait for, in hundredths of their time: memory, dependences, barriers, throttled queues, issue."""
    if not row or not row.get("warp_cycles"):
        return "-"
    return " ".join(f"{letter}{100 * row['stall_' + kind] / row['warp_cycles']:.0f}" for letter, kind in
                    (("m", "memory"), ("d", "dependency"), ("b", "barrier"), ("t", "throttle"), ("i", "issue")))


def reason(base, row):
    """The counters that moved from one row to the other, in words."""
    if not base or not row:
        return "-"
    words = []
    for name, key in (("L2 sectors", "l2_sectors"), ("instructions", "thread_instructions")):
        if base[key] and abs(row[key] / base[key] - 1) > 0.03:
            words.append(f"{name} {100 * (row[key] / base[key] - 1):+.0f}%")
    dram = [r["dram_read_bytes"] + r["dram_write_bytes"] for r in (base, row)]
    if dram[0] and abs(dram[1] / dram[0] - 1) > 0.03:
        words.append(f"DRAM {100 * (dram[1] / dram[0] - 1):+.0f}%")
    if base.get("warp_cycles") and row.get("warp_cycles"):
        for kind in ("memory", "dependency", "barrier", "throttle", "issue"):
            share = [100 * r["stall_" + kind] / r["warp_cycles"] for r in (base, row)]
            if abs(share[1] - share[0]) >= 5:
                words.append(f"waits {kind} {share[0]:.0f} to {share[1]:.0f}%")
    return ", ".join(words) or "nothing moved"


class Page:
    """A chapter: its text with the names of its tables, and these."""

    def __init__(self, folder=None):
        self.lines, self.tables, self.folder = [], {}, folder  # of plots; None: there are none

    def plot(self, name, draw, *args):
        """draw(path, *args) makes the plot, which the chapter shows."""
        if not self.folder:
            return
        os.makedirs(self.folder, exist_ok=True)
        draw(os.path.join(self.folder, name + ".svg"), *args)
        self.lines += [f"![{name}]({name}.svg)", ""]

    def text(self, *paragraphs):
        for p in paragraphs:
            self.lines += textwrap.wrap(p, 120, break_long_words=False, break_on_hyphens=False) + [""]

    def table(self, name, head, rows):
        """Of the file NAME.csv. Columns have names of their own, and so have tables."""
        if len(set(head)) < len(head) or name in self.tables:
            raise ValueError(f"{name}: a name stands for two columns or tables")
        self.tables[name] = head, [list(r) + [""] * (len(head) - len(r)) for r in rows]
        self.lines += [f"[{name}.csv]({name}.csv): {len(rows)} rows", ""]

    def add(self, other):
        self.lines += other.lines
        self.tables.update(other.tables)


def write_csv(path, head, rows):
    with open(path + ".new", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(head)
        out.writerows(rows)
    os.replace(path + ".new", path)

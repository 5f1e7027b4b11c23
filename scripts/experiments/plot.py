"""Plots as SVG: bars in groups, lines, dots, and heat maps. Plain text, the same on every machine."""
import html

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")
WIDTH, LEFT, TOP, BOTTOM, HIGH = 920, 56, 34, 74, 240


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


class Plot:
    """An area of WIDTH by HIGH points, with a title and a scale from 0, or from `low` by logarithms, to `top`."""

    def __init__(self, title, unit, top, low=None):
        import math
        self.title, self.unit, self.out = title, unit, []
        self.place = (lambda v: math.log(max(v, low) / low) / math.log(top / low)) if low else (lambda v: v / top)
        steps, step = [], low or 0
        while low and step <= top:
            steps.append(step)
            step *= 10
        for v in steps or [top * k / 4 for k in range(5)]:
            y = self.y(v)
            self.out.append(f'<path d="M{LEFT} {y:.0f}H{WIDTH - 8}" stroke="#ddd"/>')
            self.text(LEFT - 6, y + 4, number(v), "end")

    def y(self, value):
        return TOP + HIGH * (1 - min(1, max(0, self.place(value))))

    def text(self, x, y, words, anchor="middle", turn=False, size=11):
        place = f'transform="translate({x:.0f} {y:.0f}) rotate(-38)"' if turn else f'x="{x:.0f}" y="{y:.0f}"'
        place += f' text-anchor="{anchor}"' if anchor != "middle" else ""
        place += f' font-size="{size}"' if size != 11 else ""
        self.out.append(f'<text {place}>{html.escape(str(words))}</text>')

    def legend(self, names):
        for i, name in enumerate(names):
            x = WIDTH - 8 - 118 * (len(names) - i)
            self.out.append(f'<rect x="{x}" y="8" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>')
            self.text(x + 14, 17, name, "start")

    def line_at(self, value, words):
        y = self.y(value)
        self.out.append(f'<path d="M{LEFT} {y:.0f}H{WIDTH - 8}" stroke="#333" stroke-dasharray="4 3"/>')
        self.text(WIDTH - 10, y - 4, words, "end")

    def write(self, path, height=TOP + HIGH + BOTTOM):
        self.text(LEFT, 17, f"{self.title} ({self.unit})", "start", size=13)
        with open(path, "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                    f'font-family="sans-serif" font-size="11" text-anchor="middle">\n'
                    f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(self.out) + "\n</svg>\n")


def top_of(values):
    values = [v for v in values if v]
    return 1.08 * max(values + [1e-9])


def bars(path, title, unit, groups, names, mark=None):
    """groups: [(label, [value or None])], a value for each name; mark: (value, words) of a line across."""
    p = Plot(title, unit, top_of([v for _, g in groups for v in g] + ([mark[0]] if mark else [])))
    each = (WIDTH - LEFT - 8) / max(1, len(groups))
    wide = 0.8 * each / max(1, len(names))
    shapes, bottom = [""] * len(names), TOP + HIGH
    for i, (label, values) in enumerate(groups):
        for k, v in enumerate(values):
            if v is not None:
                shapes[k] += f"M{LEFT + i * each + 0.1 * each + k * wide:.1f} {bottom}V{p.y(v):.0f}h{wide:.1f}V{bottom}z"
        p.text(LEFT + (i + 0.6) * each, bottom + 14, label, "end", turn=len(groups) > 12)
    p.out += [f'<path d="{d}" fill="{COLOURS[k % len(COLOURS)]}"/>' for k, d in enumerate(shapes)]
    if mark:
        p.line_at(*mark)
    p.legend(names)
    p.write(path)


def lines(path, title, unit, labels, series):
    """labels of the points along x; series: [(name, [value or None])]."""
    p = Plot(title, unit, top_of([v for _, s in series for v in s]))
    step = (WIDTH - LEFT - 8) / max(1, len(labels))
    at = lambda i: LEFT + (i + 0.5) * step
    for k, (_, values) in enumerate(series):
        points = " ".join(f"{at(i):.1f},{p.y(v):.1f}" for i, v in enumerate(values) if v is not None)
        p.out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[k]}" stroke-width="2"/>')
    for i, label in enumerate(labels):
        p.text(at(i), TOP + HIGH + 16, label)
    p.legend([name for name, _ in series])
    p.write(path)


def dots(path, title, unit, series, low=None, marks=()):
    """series: [(name, [(x from 0 to 1, value)])]; marks: x where a line stands."""
    p = Plot(title, unit, top_of([v for _, s in series for _, v in s]), low)
    at = lambda x: LEFT + x * (WIDTH - LEFT - 8)
    for k, (_, points) in enumerate(series):
        places = sorted({(round(at(x)), round(p.y(v))) for x, v in points})
        p.out.append(f'<path d="{"".join(f"M{x} {y}h0" for x, y in places)}" stroke="{COLOURS[k % len(COLOURS)]}" '
                     'stroke-width="4" stroke-linecap="round"/>')
    for x in marks:
        p.out.append(f'<path d="M{at(x):.0f} {TOP}v{HIGH}" stroke="#c00"/>')
    p.legend([name for name, _ in series])
    p.write(path)


def heat(path, title, unit, across, down, values):
    """values[(a, d)]: a cell each; light is low."""
    p = Plot(title, unit, 1)
    p.out = []
    wide, high = min(64, (WIDTH - LEFT - 60) / len(across)), 26
    least, most = min(values.values()), max(values.values())
    for i, a in enumerate(across):
        p.text(LEFT + 30 + (i + 0.5) * wide, TOP + 12, a)
        for k, d in enumerate(down):
            v = values.get((a, d))
            if v is None:
                continue
            part = (v - least) / (most - least) if most > least else 0
            grey = int(245 - 190 * part)
            x, y = LEFT + 30 + i * wide, TOP + 18 + k * high
            p.out.append(f'<path d="M{x:.0f} {y}h{wide:.0f}v{high}H{x:.0f}z" fill="rgb({grey},{grey},255)" stroke="#fff"/>')
            p.text(x + wide / 2, y + 17, number(v))
    for k, d in enumerate(down):
        p.text(LEFT + 22, TOP + 35 + k * high, d, "end")
    p.write(path, TOP + 30 + high * len(down))

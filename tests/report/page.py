#!/usr/bin/env python3
"""Pages of results in a browser: nothing on its console, nothing wider than the window, links that lead
somewhere, tables that sort, keys that work; light and dark, wide and narrow, and every section drawn.

  page.py HEDDLE SOURCE [SCREENSHOTS]

SCREENSHOTS: a folder for pictures of it. Exit code 77: there is no Chromium.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import devtools

HEDDLE, SOURCE = sys.argv[1:3]
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
failed = 0

# Runs in the page, behind its own script; what it finds out becomes the text of #found.
PROBE = """
addEventListener("load", async () => {
  const found = {sections: {}, links: [], errors: []}, wait = () => new Promise((r) => setTimeout(r, 20));
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  addEventListener("error", (e) => found.errors.push(e.message));
  try {
    dispatchEvent(new Event("beforeprint"));
    found.printed = [...document.querySelectorAll("details")].every((d) => d.open && d.children.length > 1);
    for (const d of document.querySelectorAll("details")) {
      d.open = true;
      await wait();
      const what = (q) => d.querySelectorAll(q).length;
      found.sections[d.firstChild.firstChild.data.trim()] = {rows: what("tbody tr"), svg: what("svg"), tips: what("[data-tip]"), text: d.innerText.length};
    }
    const refused = [...document.querySelectorAll("details")].find((d) => d.innerText.startsWith("refused.csv"));
    found.refused = [...refused.querySelectorAll("tbody tr")].map((r) => [r.className, ...[...r.children].map((c) => c.textContent)]);
    found.wide = document.documentElement.scrollWidth - innerWidth;
    found.dark = getComputedStyle(document.body).backgroundColor;
    for (const a of document.querySelectorAll("a")) found.links.push([a.getAttribute("href"), !!document.querySelector(a.getAttribute("href"))]);
    const side = (cell) => getComputedStyle(cell).textAlign;
    found.astray = [...document.querySelectorAll("th")].filter((th) => {
      const row = th.closest("table").tBodies[0].rows[0];
      return row && side(row.children[[...th.parentNode.children].indexOf(th)]) !== side(th);
    }).map((th) => th.textContent);
    const button = [...document.querySelectorAll("th button")].find((b) => b.textContent === "speedup" && b.closest("table").rows.length > 60);
    const cells = () => [...button.closest("table").querySelectorAll("tbody tr")].map((r) => parseFloat(r.children[[...button.closest("tr").children].indexOf(button.parentNode)].textContent));
    button.click();
    found.down = cells();
    button.click();
    found.up = cells();
    const theme = document.documentElement.dataset.theme;
    document.body.focus();
    press("d");
    found.turned = document.documentElement.dataset.theme !== theme;
    press("d");
    press("/");
    found.searching = document.activeElement.matches("input");
    document.activeElement.value = "sweep.csv";
    document.activeElement.dispatchEvent(new Event("input"));
    found.left = document.querySelectorAll("section:not([hidden])").length;
    document.activeElement.value = "";
    document.querySelector("input").dispatchEvent(new Event("input"));
    document.activeElement.blur();
    press("j");
    found.moved = document.activeElement.tagName;
    scrollTo(0, 0);
  } catch (e) { found.errors.push(String(e)); }
  const out = document.createElement("script");
  out.id = "found";
  out.type = "application/json";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
"""


def check(name, ok, more=""):
    global failed
    failed += not ok
    print(("ok      " if ok else "FAILED  ") + name + (f": {more}" if more and not ok else ""), flush=True)


def heddle(*words):
    return subprocess.run([HEDDLE, *map(str, words)], check=True, capture_output=True, text=True).stdout


# The head of a sweep's CSV and a row that failed: the rows of a sweep follow.
COUNTERS = ("time_us,thread_instructions,l1_sectors,l1_hits,l2_sectors,l2_hits,dram_read_bytes,dram_write_bytes,compulsory_bytes,cycles_issue,cycles_l1,"
            "cycles_l2,cycles_dram,warp_cycles,stall_memory,stall_dependency,stall_barrier,stall_throttle,stall_issue,dram_busy,dram_useful,resident")
REFUSED = f"""plan,status,{COUNTERS},why
"order=shape",failed,{"," * COUNTERS.count(",")},"shape ""8x8"", and no other"
"""


def make_folder(folder):
    """What the commands write, on workloads that need no compiler; the suite's bench; and 69 optimizations more."""
    folder.mkdir()
    bench = pathlib.Path(SOURCE, "bench/results/H100-2026-11-22")
    for name in ("results.jsonl", "verify.jsonl"):
        shutil.copy(bench / name, folder)
    workload = f"{SOURCE}/corpus/triton/matmul-sm80"
    model = ["--size", "tiny", "--gpu", "gtx580"]
    heddle("optimize", workload, *model, "-o", folder / "optimized")
    heddle("sweep", workload, *model, "-o", folder / "sweep.csv")
    (folder / "refused.csv").write_text(REFUSED + heddle("sweep", workload, *model, "--plans", "order=col bind=cancel").split("\n", 1)[1])
    (folder / "analysis.json").write_text(heddle("analyze", workload, "--size", "tiny", "--seconds", 1, "--json"))
    heddle("simulate", workload, *model, "--timeline", folder / "timeline.json")
    one = json.loads((folder / "optimized/matmul-sm80.json").read_text())
    one["workload"] = "</script><img src=x onerror=alert(1)>"
    for i in range(69):
        (folder / f"optimized/w{i}.json").write_text(json.dumps(one, indent=2))


def browse(page, width, dark, picture):
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
             f"--window-size={width},1400", "--virtual-time-budget=20000", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    if PICTURES:
        subprocess.run([*words, f"--screenshot={PICTURES}/{picture}.png", page.as_uri()], capture_output=True, timeout=120)
    r = subprocess.run([*words, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    found = re.search(r'<script id="found" type="application/json">(.*?)</script>', r.stdout, re.S)
    console = [line for line in r.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found[1])) if found else {}, console


def check_page(page, width, dark):
    name = f"{'dark' if dark else 'light'}, {width} wide: "
    found, console = browse(page, width, dark, f"{'dark' if dark else 'light'}-{width}")
    check(name + "nothing on the console, no error", found and not console and not found["errors"], f"{console} {found.get('errors')}")
    if not found:
        return
    s = found["sections"]
    check(name + "all is drawn", len(s) == 76 and s["results.jsonl"]["rows"] == 70 and s["results.jsonl"]["svg"] == 3
          and s["optimized/matmul-sm80.json"]["svg"] >= 2 and s["sweep.csv"]["tips"] >= 5 and s["analysis.json"]["tips"] > 2
          and all(x["text"] > 40 for x in s.values()), {k: v for k, v in s.items() if "/w" not in k})
    rows = found["refused"]
    check(name + "a sweep's refused plans have no times, and say why", [r[1] for r in rows] == ["order=shape", "baseline", "order=col", "bind=cancel"]
          and [r[0] for r in rows] == ["", "base", "", ""] and rows[0][-1] == 'shape "8x8", and no other' and "clusterlaunchcontrol" in rows[3][-1]
          and all(set(r[2:-1]) == {"\u2013"} for r in (rows[0], rows[3])) and rows[1][3] == "1.000\u00d7", rows)
    check(name + "printed, all sections are there", found["printed"])
    check(name + "nothing is wider than the window", found["wide"] <= 0, found["wide"])
    check(name + "as the system wants it", (found["dark"] == "rgb(20, 24, 29)") == dark, found["dark"])
    check(name + "links lead to sections", len(found["links"]) == 76 and all(ok for _, ok in found["links"]), found["links"])
    check(name + "heads stand over their columns", not found["astray"], found["astray"])
    check(name + "tables sort", found["down"] == sorted(found["down"], reverse=True) and found["up"] == sorted(found["up"])
          and len(set(found["up"])) > 20, found["up"])
    check(name + "keys: d, /, j", found["turned"] and found["searching"] and found["left"] == 1 and found["moved"] == "SUMMARY", found)


# A page of one result, looked at: how much is drawn, what is cut off, which colours it has.
LOOK = """(() => {
  const what = (q) => document.querySelectorAll(q).length, width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, details > svg, #tip, .maps svg") && e.getBoundingClientRect().right > width + 1);
  return {svg: what("svg"), drawn: what("svg rect, svg polyline, svg circle"), rows: what("tbody tr"), h1: document.querySelector("h1").textContent,
    wide: document.documentElement.scrollWidth - width, astray: wide.map((e) => e.tagName + " " + e.textContent.slice(0, 40)).slice(0, 3),
    back: getComputedStyle(document.body).backgroundColor, fills: [...new Set([...document.querySelectorAll("svg rect")].map((e) => getComputedStyle(e).fill))].sort().join(" "),
    nan: /NaN|Infinity|undefined|null/.test(document.querySelector("main").innerHTML)};
})()"""

PROFILE = {"seconds": 0.004, "reached_seconds": 0.003, "emulated": True, "kernels": [
    {"kernel": "_Z4gemm", "title": "gemm<half>", "launches": 10, "seconds": 0.003, "category": "algorithm", "reuse_lost": 2.5, "at_most": 1.75},
    {"kernel": "fft", "title": "fft", "launches": 2, "seconds": 0.001, "why": "no PTX"}]}  # fmt: skip
RUN = {"launches": 12, "steered": 10, "early": 0, "saved": 0.001, "saved_measured": 0.001, "lost": 0.00001, "ready": 0.0008, "kernels": [
    {"launches": 10, "steered": 10, "kernel": "_Z4gemm", "title": "gemm<half>", "plan": "order=col", "speedup": 1.25, "saved": 0.001,
     "promised": 1.25, "measured": 1.2, "low": 1.1, "high": 1.3, "pairs": 12, "ready": 0.0008, "lost": 0.00001},
    {"launches": 2, "steered": 0, "kernel": "fft", "why": "no verdict"}]}  # fmt: skip


HOT = {"program": "./app", "gpu": "G", "emulated": True, "speedup": 1.6, "answer": "All kernels together: 1.60x as fast", "times": "Shares are the model's",
    "pins": "heddle-out/predictions.json", "kernels": [
    {"kernel": "_Z4gemm", "title": "gemm<half>", "launches": 10, "share": 0.75, "plan": "order=col", "why": "issue", "workload": "gemm-1",
     "category": "algorithm", "answered": True, "speedup": 2.0, "proved": "smaller"},
    {"kernel": "fft", "title": "fft", "launches": 2, "share": 0.25, "plan": None, "why": "no PTX", "workload": None},
    {"kernel": "sort", "title": "sort", "launches": 1, "share": None, "plan": None, "why": None, "workload": None}]}  # fmt: skip


def check_singles(folder):
    """The pages that commands write, and results of programs, at a phone's width and at a screen's, light and dark."""
    folder.mkdir()
    workload = f"{SOURCE}/corpus/triton/matmul-sm80"
    model = ["--size", "tiny", "--gpu", "gtx580"]
    heddle("optimize", workload, *model, "-o", folder)
    heddle("sweep", workload, *model, "-o", folder / "sweep.csv", "--html", folder / "sweep.html")
    heddle("probe", "--device", "emu", "--launches", 2, "-o", folder / "gpu.toml", "--html", folder / "probe.html")
    heddle("bench", workload, "--device", "model:gtx580", "--size", "tiny", "--store", "none", "-o", folder / "bench")
    for name, result in (("profile", PROFILE), ("run", RUN), ("hot", HOT)):
        (folder / name).mkdir()
        (folder / name / f"{name}.json").write_text(json.dumps(result))
        heddle("report", folder / name)
    # Pages, with drawings and rows of tables that each has at least.
    pages = {"matmul-sm80.html": (6, 5), "sweep.html": (4, 5), "probe.html": (6, 0), "bench/report.html": (1, 1), "profile/index.html": (1, 2), "run/index.html": (0, 2), "hot/index.html": (1, 3)}
    for page, (svg, rows) in pages.items():
        with devtools.Browser(CHROMIUM, 1280, 1400) as b:
            b.first_paint(folder / page)
            seen = {}
            for width in (1280, 400):
                for dark in (False, True):
                    b.view(width, dark)
                    if PICTURES:
                        b.picture(PICTURES / f"{page.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png")
                    seen[width, dark] = found = b.value(LOOK)
                    name = f"{page}, {'dark' if dark else 'light'}, {width} wide: "
                    check(name + "all is drawn", found["svg"] >= svg and found["rows"] >= rows and not found["nan"], found)
                    check(name + "nothing is wider than the window", found["wide"] <= 0 and not found["astray"], found)
            light, dark = seen[1280, False], seen[1280, True]
            check(f"{page}: drawn once, light and dark", light["drawn"] == dark["drawn"] and light["back"] != dark["back"]
                  and (not svg or light["fills"] != dark["fills"]), (light, dark))
            check(f"{page}: nothing on the console", not b.complaints(), b.complaints())


# A page with two plans: its timelines, its lines and both texts, before and after a click on all that can be clicked.
ORDERS = """(() => {
  const all = (q, e = document) => [...e.querySelectorAll(q)], text = (e) => e.textContent, fills = (f) => all("g rect", f).map((r) => r.getAttribute("fill"));
  const figures = all(".pair figure"), found = {plans: figures.map((f) => text(f.querySelector("b"))), ctas: figures.map((f) => all("g rect", f).length),
    ends: figures.map((f) => all("svg text", f).filter((t) => t.getAttribute("text-anchor") === "middle").map(text).join(" ")), notes: figures.map((f) => text(f.querySelector("figcaption"))),
    tips: figures.every((f) => all("rect[data-tip]", f).length > all("g rect", f).length), painted: figures.map((f) => new Set(fills(f)).size)};
  const buttons = all(".choice button"), before = fills(figures[0]).join(), pressed = () => buttons.map((b) => b.getAttribute("aria-pressed")).join();
  found.choices = buttons.map(text);
  found.pressed = pressed();
  const first = buttons.find((b) => b.getAttribute("aria-pressed") === "true");
  buttons.find((b) => b !== first).click();
  found.repainted = fills(figures[0]).join() !== before && pressed() !== found.pressed;
  first.click();
  found.back = fills(figures[0]).join() === before;
  const [lines, diff] = all("table.code");
  found.accesses = all("tr.access", lines).map((r) => [...r.children].map(text));
  found.source = all("td.source", lines).map(text);
  found.come = all(".come", diff).length;
  found.gone = all(".gone", diff).length;
  const folds = all(".fold button", diff), rows = all("tbody tr", diff).length;
  folds.forEach((b) => b.click());
  found.unfolded = folds.length > 0 && all("tbody tr", diff).length > rows && !all(".fold", diff).length;
  return found;
})()"""


def check_orders(folder):
    """A product of matrices whose CTAs go by columns: the plan kept and the default beside each other."""
    folder.mkdir()
    text = pathlib.Path(SOURCE, "examples/own/kernels.ptx").read_text()
    (folder / "kernels.ptx").write_text(text.replace(".address_size 64", '.address_size 64\n.file 1 "/src/made.cu"', 1).replace("\tld.global", "\t.loc 1 2 3\n\tld.global"))
    (folder / "made.cu").write_text("first\n  a source line <of> loads\n")
    heddle("optimize", folder / "kernels.ptx", "-k", "product", "--gpu", "gtx580", "--grid", "2,64", "--block", 64, "--plans", "order=col",
           "--arg", "struct{f32[8192]=uniform(-1, 1), s32:128, s32:128}", "--arg", "struct{f32[16384]=uniform(-1, 1), s32:128, s32:128}", "--arg", "f32[8192]=none",
           "-o", folder)  # fmt: skip
    page = folder / "kernels-dense_product.html"
    with devtools.Browser(CHROMIUM, 1280, 1400) as b:
        b.first_paint(page)
        if PICTURES:
            b.view(1280, False)
            b.picture(PICTURES / "orders.png")
        found = b.value(ORDERS)
        check("orders: each plan's CTAs are there, on one time axis", found["plans"] == ["baseline", "order=col"] and found["ctas"] == [128, 128]
              and found["ends"][0] == found["ends"][1] and found["tips"], found)
        check("orders: CTAs have the colours of the data chosen", min(found["painted"]) == 12 and sorted(found["choices"]) == ["arg1_1", "arg2_1"] and found["pressed"] == "false,true"
              and found["repainted"] and found["back"] and all("colours at once" in n for n in found["notes"]), found)
        # The lines' accesses: "A -> B" where plans differ, and waits that are parts of all.
        waits = [float(a[-2].split("%")[0]) for a in found["accesses"]]
        check("orders: accesses stand at their lines with hits and waits, beside the source", len(found["accesses"]) > 4 and 99 < sum(waits) < 101
              and all(".global" in a[1] for a in found["accesses"]) and any("\u2192" in a[3] for a in found["accesses"])
              and any(s == "made.cu:2  a source line <of> loads" for s in found["source"]), found)
        check("orders: old and new text beside each other, what is the same folded", found["come"] > 4 and found["gone"] > 1 and found["unfolded"], found)
        for width in (1280, 400):
            for dark in (False, True):
                b.view(width, dark)
                look = b.value(LOOK)
                check(f"orders, {'dark' if dark else 'light'}, {width} wide: nothing is wider than the window", look["wide"] <= 0 and not look["astray"] and not look["nan"], look)
        check("orders: nothing on the console", not b.complaints(), b.complaints())


def check_bench(folder):
    """The page of the suite's bench, as it is: how soon it is painted is printed, since machines differ."""
    shutil.copytree(f"{SOURCE}/bench/results/H100-2026-11-22", folder)
    heddle("report", folder)
    with devtools.Browser(CHROMIUM, 1280, 1400) as b:
        ms = b.first_paint(folder / "index.html")
        check(f"the suite's bench: first paint after {ms:.0f} ms, nothing on the console", ms > 0 and not b.complaints(), b.complaints())


with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at, "results")
    make_folder(folder)
    heddle("report", folder)
    text = (folder / "index.html").read_text()
    check(f"a page of 70 workloads is small: {len(text) / 1e6:.2f} MB", len(text) < 2e6)
    check("nothing is fetched", not re.search(r"(src|href)=[\"']?(http|//)|@import|url\(|fetch\(", text))
    if not CHROMIUM:
        print("skipped: there is no Chromium; the page was not looked at")
        sys.exit(failed != 0 or 77)
    page = folder / "probed.html"
    page.write_text(text.replace("</body>", f"<script>{PROBE}</script></body>"))
    check_page(page, 1280, False)
    check_page(page, 500, True)
    check_singles(pathlib.Path(at, "singles"))
    check_orders(pathlib.Path(at, "orders"))
    check_bench(pathlib.Path(at, "bench"))
    if PICTURES:
        shutil.copy(page, PICTURES)
sys.exit(failed != 0)

"use strict";
/* The page of `heddle report`: what lies in a folder, drawn from the JSON that the page carries. A section is
 * drawn when it is opened first. Texts only ever become text nodes. */
const NS = "http://www.w3.org/2000/svg";
const el = (name, attributes = {}, ...children) => {
  const svg = ["svg", "g", "rect", "line", "text", "circle", "path"].includes(name);
  const e = svg ? document.createElementNS(NS, name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined) e.setAttribute(k, v);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
};
/* Lists of like objects travel as columns. */
const expand = (x) => {
  if (Array.isArray(x)) return x.map(expand);
  if (!x || typeof x !== "object") return x;
  if (x.$columns) {
    const keys = Object.keys(x.$columns), rows = [];
    for (let i = 0; i < x.$rows; i++) {
      const row = {};
      for (const k of keys) if (x.$columns[k][i] !== null) row[k] = expand(x.$columns[k][i]);
      rows.push(row);
    }
    return rows;
  }
  return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, expand(v)]));
};
const number = (x, digits = 3) => (Number.isFinite(x) ? String(Number(x.toPrecision(digits))) : "\u2013");
const times = (x) => (x > 0 ? x.toFixed(3) + "\u00d7" : "\u2013");
const mb = (x) => (Number.isFinite(x) ? (x / 1e6).toFixed(2) : "\u2013");
const dram = (c) => (c ? c.dram_read_bytes + c.dram_write_bytes : NaN);
const share = (part, whole) => (whole ? part / whole : NaN);
const percent = (x) => (Number.isFinite(x) ? (100 * x).toFixed(1) + "%" : "\u2013");

/* ---- Tables ------------------------------------------------------------------------------------ */

/* columns: [{head, of(row), show(value, row), text}] */
function table(columns, rows, classOf = () => "") {
  const head = el("tr"), body = el("tbody");
  const fill = (list) => {
    body.replaceChildren(...list.map((r) => el("tr", {class: classOf(r) || undefined},
      ...columns.map((c) => el("td", {class: c.text ? "text" : undefined}, c.show ? c.show(c.of(r), r) : String(c.of(r) ?? ""))))));
  };
  columns.forEach((c) => {
    const button = el("button", {type: "button"}, c.head), th = el("th", {scope: "col", class: c.text ? "text" : undefined}, button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") !== "descending";
      for (const other of head.children) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (r) => { const v = c.of(r); return typeof v === "number" && !Number.isFinite(v) ? -Infinity : v ?? ""; };
      fill([...rows].sort((a, b) => {
        const x = value(a), y = value(b), order = x < y ? -1 : x > y ? 1 : 0;
        return down === (typeof x === "number") ? -order : order;
      }));
    });
    head.append(th);
  });
  fill(rows);
  return el("div", {class: "scroll", tabindex: "0"}, el("table", {}, el("thead", {}, head), body));
}

/* ---- Drawings ------------------------------------------------------------------------------------ */

const tip = el("div", {id: "tip", role: "tooltip"});
document.addEventListener("pointermove", (e) => {
  const at = e.target.closest ? e.target.closest("[data-tip]") : null;
  tip.style.display = at ? "block" : "none";
  if (!at) return;
  tip.textContent = at.dataset.tip;
  tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
});
const svg = (width, height, label) => el("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label});
const label = (x, y, text, anchor = "start") => el("text", {x, y, "text-anchor": anchor}, text);
const bar = (x, y, width, height, fill, text) =>
  el("rect", {x: x.toFixed(1), y: y.toFixed(1), width: Math.max(width, 0.5).toFixed(1), height: height.toFixed(1), fill, "data-tip": text});

/* Bars that grow from 1x to both sides. */
function speedups(rows) {
  const W = 1000, LEFT = 190, ROW = 18, sorted = [...rows].sort((a, b) => b.speedup - a.speedup);
  const top = Math.max(1.25, ...sorted.map((r) => r.speedup * 1.15)), low = 0.9;
  const x = (v) => LEFT + ((W - LEFT - 60) * Math.log(Math.max(v, low) / low)) / Math.log(top / low);
  const s = svg(W, 24 + sorted.length * ROW, "speedups of the plans kept");
  for (const t of [1, 1.25, 1.5, 2, 3, 5, 10, 20].filter((v) => v < top))
    s.append(el("line", {x1: x(t), x2: x(t), y1: 16, y2: 24 + sorted.length * ROW, stroke: "var(--line)"}), label(x(t), 12, t + "\u00d7", "middle"));
  sorted.forEach((r, i) => {
    const y = 20 + i * ROW, one = x(1), at = x(r.speedup);
    s.append(label(LEFT - 8, y + 12, r.workload.length > 26 ? "\u2026" + r.workload.slice(-25) : r.workload, "end"),
      bar(Math.min(one, at), y + 2, Math.abs(at - one) + 1, ROW - 5, r.speedup > 1 ? "var(--good)" : "var(--bar)",
        `${r.workload}\n${r.plan}: ${times(r.speedup)}\n${number(r.default_us, 5)} \u2192 ${number(r.best_us, 5)} \u00b5s`),
      label(Math.max(at, one) + 6, y + 12, r.speedup.toFixed(2) + "\u00d7"));
  });
  return s;
}

/* DRAM traffic over compulsory, before and after. */
function traffic(rows) {
  const W = 1000, LEFT = 190, ROW = 20;
  const with_ = rows.filter((r) => r.before && r.compulsory_bytes > 0).sort((a, b) => dram(b.before) / b.compulsory_bytes - dram(a.before) / a.compulsory_bytes);
  if (!with_.length) return el("p", {class: "sub"}, "No counters were taken.");
  const top = Math.max(2, ...with_.map((r) => Math.max(dram(r.before), dram(r.after)) / r.compulsory_bytes));
  const x = (v) => LEFT + ((W - LEFT - 60) * Math.log2(Math.max(v, 0.25) / 0.25)) / Math.log2(top / 0.25);
  const s = svg(W, 24 + with_.length * ROW, "DRAM traffic before and after");
  for (let t = 0.25; t <= top; t *= 2)
    s.append(el("line", {x1: x(t), x2: x(t), y1: 16, y2: 24 + with_.length * ROW, stroke: t === 1 ? "var(--soft)" : "var(--line)"}), label(x(t), 12, t + "\u00d7", "middle"));
  with_.forEach((r, i) => {
    const y = 20 + i * ROW, text = `${r.workload}\nDRAM ${mb(dram(r.before))} \u2192 ${mb(dram(r.after))} MB\ncompulsory ${mb(r.compulsory_bytes)} MB`;
    s.append(label(LEFT - 8, y + 13, r.workload.length > 26 ? "\u2026" + r.workload.slice(-25) : r.workload, "end"),
      bar(LEFT, y + 2, x(dram(r.before) / r.compulsory_bytes) - LEFT, 7, "var(--base)", text),
      bar(LEFT, y + 10, x(dram(r.after) / r.compulsory_bytes) - LEFT, 7, "var(--good)", text));
  });
  return s;
}

/* Thread instructions a second against those for each byte of DRAM; the slope is DRAM's peak. */
function roofline(rows) {
  const points = [];
  let peak = 0;
  for (const r of rows) {
    if (r.roofline_us > 0) peak = Math.max(peak, r.compulsory_bytes / r.roofline_us / 1e3);
    for (const [when, c, us] of [["before", r.before, r.default_us], ["after", r.after, r.best_us]])
      if (c && dram(c) > 0 && us > 0 && c.thread_instructions > 0)
        points.push({r, when, x: c.thread_instructions / dram(c), y: c.thread_instructions / us / 1e3});
  }
  if (!points.length) return null;
  const W = 1000, H = 420, L = 60, B = 40, span = (v) => [Math.min(...v) / 1.6, Math.max(...v) * 1.6];
  const [x0, x1] = span(points.map((p) => p.x)), [y0, y1] = span(points.map((p) => p.y));
  const x = (v) => L + ((W - L - 20) * Math.log(v / x0)) / Math.log(x1 / x0), y = (v) => H - B - ((H - B - 20) * Math.log(v / y0)) / Math.log(y1 / y0);
  const s = svg(W, H, "roofline"), end = Math.min(x1, y1 / peak), begin = Math.max(x0, y0 / peak);
  for (let t = 10 ** Math.ceil(Math.log10(x0)); t < x1; t *= 10) s.append(el("line", {x1: x(t), x2: x(t), y1: 20, y2: H - B, stroke: "var(--line)"}), label(x(t), H - B + 16, number(t), "middle"));
  for (let t = 10 ** Math.ceil(Math.log10(y0)); t < y1; t *= 10) s.append(el("line", {x1: L, x2: W - 20, y1: y(t), y2: y(t), stroke: "var(--line)"}), label(L - 6, y(t) + 4, number(t), "end"));
  if (peak > 0 && end > begin) s.append(el("line", {x1: x(begin), x2: x(end), y1: y(begin * peak), y2: y(end * peak), stroke: "var(--blue)", "stroke-width": 2}),
    label(x(begin) + 8, y(begin * peak) - 8, `DRAM's peak, ${number(peak, 4)} GB/s`));
  for (const p of points)
    s.append(el("circle", {cx: x(p.x).toFixed(1), cy: y(p.y).toFixed(1), r: 4, fill: p.when === "after" ? "var(--good)" : "none",
      stroke: p.when === "after" ? "var(--good)" : "var(--base)", "stroke-width": 1.5,
      "data-tip": `${p.r.workload}, ${p.when}\n${number(p.x)} instructions a byte, ${number(p.y, 4)} G/s`}));
  s.append(label(W - 20, H - 6, "thread instructions for each byte of DRAM", "end"), label(L, 12, "10\u2079 thread instructions a second"));
  return s;
}

/* Every plan a bar, the fastest to the left. */
function landscape(rows) {
  const ok = rows.filter((r) => r.time_us > 0), base = ok.find((r) => r.plan === "baseline") || ok[0];
  if (!ok.length) return null;
  const sorted = [...ok].sort((a, b) => a.time_us - b.time_us), W = 1000, H = 200, L = 46;
  const top = sorted[sorted.length - 1].time_us / base.time_us, step = (W - L) / sorted.length;
  const s = svg(W, H + 30, "the landscape: predicted time of every plan");
  for (let k = 0; k <= 4; k++) s.append(el("line", {x1: L, x2: W, y1: 20 + H - (k * H) / 4, y2: 20 + H - (k * H) / 4, stroke: "var(--line)"}), label(L - 6, 24 + H - (k * H) / 4, number((top * k) / 4), "end"));
  sorted.forEach((r, i) => {
    const h = (H * r.time_us) / base.time_us / top;
    s.append(bar(L + i * step, 20 + H - h, step > 3 ? step - 1 : step, h, r === base ? "var(--base)" : i === 0 ? "var(--good)" : "var(--bar)",
      `${r.plan}\n${number(r.time_us, 5)} \u00b5s, ${times(base.time_us / r.time_us)}\nDRAM ${mb(dram(r))} MB, L2 ${mb(32 * r.l2_sectors)} MB, L1 hits ${percent(share(r.l1_hits, r.l1_sectors))}`));
  });
  s.append(label(L, 12, "predicted time, relative to the default"));
  return s;
}

/* A digit of base 36 for each cell of the grid: the share of one CTA's lines that others use. */
function heat(picture) {
  const maps = el("div", {class: "maps"});
  picture.maps.forEach((m) => {
    const size = Math.min(16, Math.max(3, Math.floor(280 / Math.max(picture.columns, picture.rows))));
    const s = svg(size * picture.columns, size * picture.rows, `CTAs that share lines with CTA ${m.task}`);
    s.append(el("rect", {width: "100%", height: "100%", fill: "var(--panel)"}));
    for (let i = 0; i < m.share.length; i++) {
      const v = parseInt(m.share[i], 36) / 35, cx = i % picture.columns, cy = Math.floor(i / picture.columns);
      if (!v && i !== m.cell) continue;
      s.append(el("rect", {x: cx * size, y: cy * size, width: size, height: size, fill: i === m.cell ? "var(--base)" : "var(--blue)",
        "fill-opacity": i === m.cell ? 1 : v.toFixed(2), "data-tip": `CTAs (${cx * picture.step[0]}, ${cy * picture.step[1]}): ${percent(v * v)} of the lines`}));
    }
    maps.append(el("figure", {}, s, el("figcaption", {}, `CTA ${m.task}`)));
  });
  return maps;
}

/* ---- PTX with its accesses ------------------------------------------------------------------------ */

const REUSE = [["inter_cta", "shared between CTAs", "var(--blue)"], ["intra_cta", "within a CTA", "var(--good)"],
  ["intra_warp", "within a warp", "var(--bar)"], ["cold", "used once", "var(--bad)"]];
/* The kind of reuse that most of an array's requests are. */
function reuseOf(array) {
  if (!array || !array.reuse || !array.reuse.requests) return null;
  const u = array.reuse, parts = {...u, cold: u.cold / u.requests};
  return REUSE.reduce((a, b) => (parts[b[0]] > parts[a[0]] ? b : a));
}
function ptx(text, accesses, arrays) {
  const at = new Map(accesses.map((a) => [a.line, a])), byName = new Map((arrays || []).map((a) => [a.array, a]));
  const pre = el("pre", {tabindex: "0"});
  text.split("\n").forEach((line, i) => {
    const a = at.get(i + 1), span = el("span", {class: "at"}, line || " ");
    if (a) {
      const kind = reuseOf(byName.get(a.array));
      span.style.borderLeftColor = kind ? kind[2] : "var(--soft)";
      span.style.background = "var(--panel)";
      span.dataset.tip = `${a.kind} of ${a.bytes} bytes${a.array ? ", " + a.array : ""}\n${a.address || ""}\n${a.pattern || a.class}` +
        (kind ? `\nmostly ${kind[1]}` : "") + (a.first_warp ? `\nfirst warp: ${a.first_warp.sectors} sectors` : "");
    }
    pre.append(span);
  });
  const key = el("p", {class: "sub"}, "Accesses by the reuse of their array:");
  for (const [, name, colour] of REUSE) key.append(el("span", {class: "key", style: `background:${colour}`}), name);
  const box = el("div", {class: "scroll"}, pre), first = pre.querySelector("[data-tip]");
  if (first) requestAnimationFrame(() => (box.scrollTop = first.offsetTop - box.offsetTop - 80));
  return [key, box];
}

/* ---- What lies there ------------------------------------------------------------------------------- */

const heading = (text) => el("h2", {}, text);
const COUNTERS = [
  {head: "L1 hits", of: (r) => share(r.l1_hits, r.l1_sectors), show: percent},
  {head: "L2 MB", of: (r) => 32 * r.l2_sectors, show: mb},
  {head: "L2 hits", of: (r) => share(r.l2_hits, r.l2_sectors), show: percent},
  {head: "DRAM MB", of: dram, show: mb},
  {head: "vs compulsory", of: (r) => share(dram(r), r.compulsory_bytes), show: times},
];
function plans(rows) {
  const base = rows.find((r) => r.plan === "baseline") || rows[0];
  const best = rows.reduce((a, b) => (b.time_us > 0 && b.time_us < a.time_us ? b : a), base);
  return table([{head: "plan", of: (r) => r.plan, text: true},
    {head: "\u00b5s", of: (r) => r.time_us, show: (v) => number(v, 5)},
    {head: "speedup", of: (r) => base.time_us / r.time_us, show: times}, ...COUNTERS,
    {head: "why not", of: (r) => r.why || (r.status && r.status !== "ok" ? r.status : ""), text: true}],
    rows, (r) => (r === best && r !== base ? "best" : r === base ? "base" : ""));
}
function beforeAfter(a, b) {
  return table([{head: "", of: (r) => r.name}, {head: "\u00b5s", of: (r) => r.c.time_us, show: (v) => number(v, 5)},
    ...COUNTERS.map((c) => ({...c, of: (r) => c.of(r.c)}))], [{name: "before", c: a}, {name: "after", c: b}]);
}
const KINDS = {
  bench: {
    is: (d) => Array.isArray(d) && d.some((r) => r && r.levers),
    title: (d) => `Bench on ${d[0].device}: ${d.filter((r) => !r.failed).length} workloads`,
    open: true,
    draw(d) {
      const seen = new Map(d.map((r) => [r.workload + " " + r.size, r])), all = [...seen.values()], rows = all.filter((r) => !r.failed);
      const mean = Math.exp(rows.reduce((s, r) => s + Math.log(r.speedup), 0) / rows.length);
      const levers = [...new Set(rows.flatMap((r) => Object.keys(r.levers || {})))];
      const roof = roofline(rows);
      return [el("p", {class: "verdict"}, `Geometric mean over ${rows.length} workloads: ${times(mean)}; ${rows.filter((r) => r.plan !== "baseline").length} plans won.`),
        el("p", {class: "sub"}, [...new Set(all.map((r) => [r.device, r.gpu, r.driver && "driver " + r.driver, r.clock_mhz && r.clock_mhz + " MHz", "heddle " + r.heddle].filter(Boolean).join(", ")))].join("; ")),
        table([{head: "workload", of: (r) => r.workload, text: true}, {head: "default \u00b5s", of: (r) => r.default_us, show: (v) => number(v, 5)},
          {head: "best \u00b5s", of: (r) => r.best_us, show: (v) => number(v, 5)}, {head: "speedup", of: (r) => r.speedup, show: times},
          {head: "99% interval", of: (r) => r.low, show: (v, r) => (r.high > 0 && r.plan !== "baseline" ? `${number(r.low, 4)} to ${number(r.high, 4)}` : "\u2013")},
          ...(rows.some((r) => r.second) ? [{head: "second GPU", of: (r) => (r.second ? r.second.speedup : NaN), show: times}] : []),
          {head: "plan", of: (r) => r.plan, text: true},
          ...levers.map((l) => ({head: l, of: (r) => (r.levers[l] ? r.levers[l].speedup : NaN), show: times})),
          {head: "of roofline", of: (r) => share(r.roofline_us, r.best_us), show: percent},
          {head: "tuned in s", of: (r) => r.seconds, show: (v) => number(v)}], rows,
          (r) => (r.speedup >= 1.05 ? "best" : "")),
        heading("Speedups of the plans kept"), speedups(rows),
        heading("DRAM traffic over compulsory, before and after"), traffic(rows),
        roof && heading("Roofline, before and after"), roof,
        ...all.filter((r) => r.failed).map((r) => el("p", {class: "verdict none"}, `${r.workload}: ${r.failed}`))];
    },
  },
  verify: {
    is: (d) => Array.isArray(d) && d.some((r) => r && "original" in r && "tuned" in r),
    title: (d) => `Verdicts measured once more: ${d.length}`,
    draw: (d) => [table([{head: "workload", of: (r) => r.workload, text: true}, {head: "size", of: (r) => r.size},
      {head: "tuned", of: (r) => r.tuned, show: times}, {head: "now", of: (r) => r.speedup, show: times},
      {head: "default \u00b5s", of: (r) => r.default_us, show: (v) => number(v, 5)}, {head: "plan \u00b5s", of: (r) => r.plan_us, show: (v) => number(v, 5)},
      {head: "plan", of: (r) => r.plan, text: true}], d)],
  },
  optimize: {
    is: (d) => d && Array.isArray(d.rows) && d.rows.some((r) => r.plan && "time_us" in r),
    title: (d) => `${d.workload} (${d.size}) on ${d.gpu}: ${!d.answered && d.answered !== undefined ? "no answer" : d.best === "baseline" ? "no order helps" : d.best + ", " + times(d.speedup)}`,
    draw(d) {
      const base = d.rows[0], best = d.rows.find((r) => r.plan === d.best) || base;
      return [el("p", {class: d.best === "baseline" ? "verdict none" : "verdict"}, d.no_answer ? d.no_answer + "." : d.best === "baseline" ? d.nothing_helps || "No plan is predicted to help." : `${d.best} is predicted to run ${times(d.speedup)} as fast as the default${d.proved ? "; it is proved" : ""}.`),
        heading("The landscape"), landscape(d.rows), heading("Before and after"), beforeAfter(base, best),
        d.picture && heading("CTAs that share lines"), d.picture && heat(d.picture), heading("All plans"), plans(d.rows)];
    },
  },
  analysis: {
    is: (d) => d && Array.isArray(d.accesses) && Array.isArray(d.kernels),
    title: (d) => `Reuse in ${d.input}${d.category ? ": " + d.category : ""}`,
    draw: (d) => [d.evidence && el("p", {}, d.evidence),
      d.arrays && table([{head: "array", of: (a) => a.array}, {head: "loads", of: (a) => a.loads}, {head: "stores", of: (a) => a.stores},
        ...REUSE.map(([k, name]) => ({head: name, of: (a) => (k === "cold" ? share(a.reuse.cold, a.reuse.requests) : a.reuse[k]), show: percent})),
        ...["x", "y", "z"].map((k) => ({head: "shared along " + k, of: (a) => (a.shared ? a.shared[k] : NaN), show: percent}))], d.arrays),
      ...(d.ptx ? ptx(d.ptx, d.accesses, d.arrays) : [table([{head: "line", of: (a) => a.line}, {head: "kind", of: (a) => a.kind}, {head: "address", of: (a) => a.address || a.class, text: true}], d.accesses)])],
  },
  tuning: {
    is: (d) => Array.isArray(d) && d.some((r) => r && Array.isArray(r.kernels)),
    title: (d) => `Tunings: ${d.map((t) => t.workload).join(", ")}`,
    draw: (d) => d.flatMap((t) => [heading(t.workload || ""), ...t.kernels.flatMap((k) => [el("p", {}, `${k.kernel || "all kernels"}: ${k.plan || "baseline"} ${k.speedup ? times(k.speedup.median ?? k.speedup) : ""} ${k.why || ""}`),
      ...(Array.isArray(k.trials) ? [generic(k.trials)] : [])])]),
  },
  profile: {
    is: (d) => d && Array.isArray(d.kernels) && d.kernels.some((k) => "launches" in k),
    title: (d) => `Profile: ${number(d.seconds)} s in ${d.kernels.length} kernels`,
    draw: (d) => [generic(d.kernels)],
  },
};
const scalar = (v) => (v && typeof v === "object" ? JSON.stringify(v) : v);
const generic = (rows) => {
  const keys = [...new Set(rows.flatMap((r) => Object.keys(r)))].slice(0, 14);
  return table(keys.map((k) => ({head: k, of: (r) => scalar(r[k]), text: rows.some((r) => typeof r[k] === "string"), show: (v) => (typeof v === "number" ? number(v, 5) : String(v ?? ""))})), rows);
};

function csv(text) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (const c of text) {
    if (quoted ? c === '"' : c === '"') quoted = !quoted;
    else if (!quoted && (c === "," || c === "\n")) {
      row.push(cell);
      cell = "";
      if (c === "\n") rows.push(row), (row = []);
    } else cell += c;
  }
  const head = rows.shift() || [];
  return rows.map((r) => Object.fromEntries(head.map((h, i) => [h, r[i] !== "" && !Number.isNaN(Number(r[i])) ? Number(r[i]) : r[i]])));
}

function describe(file) {
  const d = file.json !== undefined ? expand(file.json) : null;
  for (const kind of Object.values(KINDS)) if (d && kind.is(d)) return {title: kind.title(d), open: kind.open, draw: () => kind.draw(d)};
  if (/\.csv$/.test(file.name)) {
    const rows = csv(file.text), sweep = rows.length && "plan" in rows[0] && "time_us" in rows[0];
    return {title: `${sweep ? "Sweep" : "Table"}: ${rows.length} rows`, draw: () => (sweep ? [landscape(rows), plans(rows)] : [generic(rows)])};
  }
  if (file.skipped) return {title: `left out: ${file.skipped}`, draw: () => []};
  if (Array.isArray(d) && d.length && typeof d[0] === "object") return {title: `${d.length} rows`, draw: () => [generic(d)]};
  return {title: "", draw: () => [el("div", {class: "scroll"}, el("pre", {}, file.text ?? JSON.stringify(d, null, 1)))]};
}

/* ---- The page -------------------------------------------------------------------------------------- */

const theme = (name) => document.documentElement.setAttribute("data-theme", name);
const wanted = matchMedia("(prefers-color-scheme: dark)");
theme(wanted.matches ? "dark" : "light");
wanted.addEventListener("change", () => theme(wanted.matches ? "dark" : "light"));

addEventListener("DOMContentLoaded", () => {
  const files = JSON.parse(document.getElementById("files").textContent), main = document.querySelector("main"), nav = document.querySelector("nav");
  const search = el("input", {type: "search", placeholder: "filter (/)", "aria-label": "filter sections"});
  const dark = el("button", {type: "button", title: "d"}, "dark or light");
  document.querySelector("header").append(search, dark);
  document.body.append(tip);
  const flip = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dark.addEventListener("click", flip);
  const described = files.map((file) => ({file, d: describe(file)})).sort((a, b) => Boolean(b.d.open) - Boolean(a.d.open));
  const sections = described.map(({file, d}, i) => {
    const details = el("details", {}, el("summary", {}, file.name + " ", el("span", {class: "sub"}, d.title)));
    const section = el("section", {id: "s" + i}, details);
    let drawn = false;
    const draw = () => { if (!drawn) details.append(...d.draw().filter(Boolean)), (drawn = true); };
    details.addEventListener("toggle", () => { if (details.open) draw(); });
    if (d.open || files.length <= 4) details.open = true;
    main.append(section);
    nav.append(el("a", {href: "#s" + i}, file.name));
    return {section, details, draw, text: (file.name + " " + d.title).toLowerCase(), link: nav.lastChild};
  });
  const go = (hash) => { const s = sections.find((x) => "#" + x.section.id === hash); if (s) s.details.open = true; };
  addEventListener("hashchange", () => go(location.hash));
  go(location.hash);
  search.addEventListener("input", () => {
    for (const s of sections) s.section.hidden = s.link.hidden = !s.text.includes(search.value.toLowerCase());
  });
  addEventListener("beforeprint", () => sections.forEach((s) => { s.details.open = true; s.draw(); })); /* a toggle's event comes too late */
  addEventListener("keydown", (e) => {
    if (e.target.matches("input") || e.ctrlKey || e.metaKey || e.altKey) { if (e.key === "Escape") e.target.blur(); return; }
    const shown = sections.filter((s) => !s.section.hidden), at = shown.findIndex((s) => s.details.contains(document.activeElement));
    if (e.key === "/") e.preventDefault(), search.focus();
    else if (e.key === "d") flip();
    else if ((e.key === "j" || e.key === "k") && shown.length) {
      const next = shown[Math.min(Math.max(at + (e.key === "j" ? 1 : -1), 0), shown.length - 1)];
      next.details.firstChild.focus();
      next.section.scrollIntoView();
    }
  });
});

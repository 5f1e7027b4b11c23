"use strict";
/* The script of all pages: results, drawn from the JSON that the page carries. A section is drawn when it is opened
 * first. Texts only ever become text nodes. Colours are the style sheet's variables, so that one drawing is light
 * and dark. */
const NS = "http://www.w3.org/2000/svg";
const el = (name, attributes = {}, ...children) => {
  const svg = ["svg", "g", "rect", "line", "text", "circle", "path", "polyline"].includes(name);
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
const baseOf = (rows) => rows.find((r) => r.plan === "baseline") || rows[0];
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const percent = (x) => (Number.isFinite(x) ? (100 * x).toFixed(1) + "%" : "\u2013");

/* ---- Tables ------------------------------------------------------------------------------------ */

/* columns: [{head, of(row), show(value, row), text, prose, shade(value, row), tip(row)}]; shade: -1 (bad) to 1 (good) */
function table(columns, rows, classOf = () => "") {
  const head = el("tr"), body = el("tbody");
  const shaded = (v) => (Number.isFinite(v) && v ? `background: color-mix(in srgb, var(${v > 0 ? "--good" : "--bad"}) ${Math.round(60 * Math.min(Math.abs(v), 1))}%, transparent)` : undefined);
  const cell = (c, r) => el("td", {class: c.prose ? "text prose" : c.text ? "text" : undefined, style: c.shade && shaded(c.shade(c.of(r), r)), "data-tip": c.tip && c.tip(r)}, c.show ? c.show(c.of(r), r) : String(c.of(r) ?? ""));
  const fill = (list) => {
    body.replaceChildren(...list.map((r) => el("tr", {class: classOf(r) || undefined}, ...columns.map((c) => cell(c, r)))));
  };
  columns.forEach((c) => {
    const button = el("button", {type: "button"}, c.head), th = el("th", {scope: "col", class: c.text || c.prose ? "text" : undefined}, button);
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
/* The step of at most n ticks up to `most`: 1, 2 or 5 of a decade. */
const TICKS = (most, n = 10) => {
  const step = 10 ** Math.floor(Math.log10(most / n));
  return step * [1, 2, 5, 10].find((k) => most / (k * step) <= n * 1.0001);
};
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
  const W = 1000, H = 420, L = 60, B = 40, decade = (v, round) => 10 ** round(Math.log10(v)), span = (v) => [decade(Math.min(...v) / 1.2, Math.floor), decade(Math.max(...v) * 1.2, Math.ceil)];
  const [x0, x1] = span(points.map((p) => p.x)), [y0, y1] = span(points.map((p) => p.y));
  const x = (v) => L + ((W - L - 20) * Math.log(v / x0)) / Math.log(x1 / x0), y = (v) => H - B - ((H - B - 20) * Math.log(v / y0)) / Math.log(y1 / y0);
  const s = svg(W, H, "roofline"), end = Math.min(x1, y1 / peak), begin = Math.max(x0, y0 / peak);
  for (let t = x0; t <= x1 * 1.0001; t *= 10) s.append(el("line", {x1: x(t), x2: x(t), y1: 20, y2: H - B, stroke: "var(--line)"}), label(x(t), H - B + 16, number(t), "middle"));
  for (let t = y0; t <= y1 * 1.0001; t *= 10) s.append(el("line", {x1: L, x2: W - 20, y1: y(t), y2: y(t), stroke: "var(--line)"}), label(L - 6, y(t) + 4, number(t), "end"));
  if (peak > 0 && end > begin) s.append(el("line", {x1: x(begin), x2: x(end), y1: y(begin * peak), y2: y(end * peak), stroke: "var(--blue)", "stroke-width": 2}),
    label(x(begin) + 8, y(begin * peak) - 8, `DRAM's peak, ${number(peak, 4)} GB/s`));
  for (const p of points)
    s.append(el("circle", {cx: x(p.x).toFixed(1), cy: y(p.y).toFixed(1), r: 4, fill: p.when === "after" ? "var(--good)" : "none",
      stroke: p.when === "after" ? "var(--good)" : "var(--base)", "stroke-width": 1.5,
      "data-tip": `${p.r.workload}, ${p.when}\n${number(p.x)} instructions a byte, ${number(p.y, 4)} G/s`}));
  s.append(label(W - 20, H - 6, "thread instructions for each byte of DRAM", "end"), label(L, 12, "10\u2079 thread instructions a second"));
  return s;
}

/* What ranks plans: their time, or their traffic in bytes if no clock gave one (hd_counters_cost). */
const moved = (r) => 32 * r.l2_sectors + dram(r);
const cost = (r) => (r.time_us > 0 ? r.time_us : moved(r));
/* Every plan a bar, the best to the left: of any measure. `named`: with their names below. */
function landscape(rows, title, of, unit, fill, named) {
  const ok = rows.filter((r) => cost(r) > 0), base = baseOf(ok);
  const values = ok.map(of).filter(Number.isFinite);
  if (!values.length) return null;
  const sorted = [...ok].sort((a, b) => cost(a) - cost(b)), most = Math.max(...values) || 1, top = 1.08 * most, names = named && sorted.length <= 48;
  const W = 1000, H = 180, L = 60, s = svg(W, H + 30 + (names ? 132 : 0), title), step = Math.min(90, (W - L - 10) / sorted.length);
  for (let v = 0; v <= most * 1.0001; v += TICKS(most, 5)) s.append(el("line", {x1: L, x2: W - 10, y1: 20 + H - (v * H) / top, y2: 20 + H - (v * H) / top, stroke: "var(--line)"}), label(L - 6, 24 + H - (v * H) / top, number(v, 4) + unit, "end"));
  sorted.forEach((r, i) => {
    const h = (H * (of(r) || 0)) / top, x = L + (i + 0.5) * step, name = r.plan.length > 22 ? r.plan.slice(0, 21) + "\u2026" : r.plan;
    s.append(bar(L + i * step, 20 + H - h, step > 3 ? step - 1 : step, h, r === base ? "var(--base)" : i === 0 ? "var(--good)" : fill,
      `${r.plan}\n${r.time_us > 0 ? `${number(r.time_us, 5)} \u00b5s, ${times(base.time_us / r.time_us)}\n` : ""}DRAM ${mb(dram(r))} MB, L2 ${mb(32 * r.l2_sectors)} MB, L1 hits ${percent(share(r.l1_hits, r.l1_sectors))}`));
    if (names) s.append(el("text", {transform: `translate(${(x + 4).toFixed(1)},${H + 30}) rotate(-55)`, "text-anchor": "end"}, name));
  });
  s.append(label(L, 12, title));
  return s;
}
function landscapes(rows) {
  const base = baseOf(rows.filter((r) => cost(r) > 0));
  if (!base) return [];
  const what = base.time_us > 0 ? "predicted time" : "traffic of L2 and DRAM";
  return [landscape(rows, `${what}, relative to the default`, (r) => cost(r) / cost(base), "", "var(--bar)", true),
    landscape(rows, "L1 miss rate", (r) => 100 * (1 - share(r.l1_hits, r.l1_sectors)), "%", "var(--bar)"),
    landscape(rows, "L2 traffic, times compulsory", (r) => share(32 * r.l2_sectors, r.compulsory_bytes), "", "var(--blue)"),
    landscape(rows, "DRAM traffic, times compulsory", (r) => share(dram(r), r.compulsory_bytes), "", "var(--violet)")];
}

/* Where warps wait: parts of their cycles, from start to end. */
const STALLS = [["memory", "for loads", "stall_memory", "var(--blue)"], ["dependency", "for results of other instructions", "stall_dependency", "var(--teal)"],
  ["barrier", "at barriers", "stall_barrier", "var(--violet)"], ["throttle", "for a pipeline, for L1, for stores to be taken", "stall_throttle", "var(--bad)"],
  ["scheduler", "ready, while others issued", "stall_issue", "var(--base)"], ["issuing", "no wait", null, "var(--good)"]];
const key = (list) => {
  const p = el("p", {class: "sub"});
  for (const [name, colour] of list) p.append(el("span", {class: "named"}, el("span", {class: "key", style: `background:${colour}`}), name), " ");
  return p;
};
function stalls(rows) {
  const with_ = rows.filter((r) => r.warp_cycles > 0), L = 190, W = 1000, s = svg(W, 30 * with_.length, "where warps wait");
  if (!with_.length) return null;
  with_.forEach((r, i) => {
    let left = 1, x = L;
    s.append(label(L - 8, 30 * i + 16, r.plan.length > 26 ? r.plan.slice(0, 25) + "\u2026" : r.plan, "end"));
    for (const [name, , at, colour] of STALLS) {
      const part = at ? r[at] / r.warp_cycles : left, width = part * (W - L - 10);
      left -= part;
      s.append(bar(x, 30 * i, width, 22, colour, `${r.plan}\n${name}: ${percent(part)}`));
      x += width;
    }
  });
  return [s, key(STALLS.map(([name, what, , colour]) => [`${name} (${what})`, colour]))];
}

/* A digit of base 36 for each cell of the grid: the share of one CTA's lines that others use. CTAs fill rows of `width`,
 * one after the other: the grid's own rows, or those into which a line is folded. */
function heat(picture) {
  const [gx, gy] = picture.grid, [wide, high] = picture.step;
  const place = (cx, cy) => { const n = cy * high * picture.width + cx * wide; return [n % gx, Math.floor(n / gx) % gy, Math.floor(n / gx / gy)].join(", "); };
  const maps = el("div", {class: "maps"});
  picture.maps.forEach((m) => {
    const size = Math.min(16, Math.max(3, Math.floor(280 / Math.max(picture.columns, picture.rows))));
    const s = svg(size * picture.columns, size * picture.rows, `CTAs that share lines with CTA ${m.task}`);
    s.append(el("rect", {width: "100%", height: "100%", fill: "var(--panel)"}));
    for (let i = 0; i < m.share.length; i++) {
      const v = parseInt(m.share[i], 36) / 35, cx = i % picture.columns, cy = Math.floor(i / picture.columns);
      if (!v && i !== m.cell) continue;
      s.append(el("rect", {x: cx * size, y: cy * size, width: size, height: size, fill: i === m.cell ? "var(--base)" : "var(--blue)",
        "fill-opacity": i === m.cell ? 1 : v.toFixed(2), "data-tip": `${wide * high > 1 ? "CTAs from" : "CTA"} (${place(cx, cy)})${wide * high > 1 ? " on" : ""}: ${percent(v * v)} of the lines`}));
    }
    maps.append(el("figure", {}, s, el("figcaption", {}, `CTA ${m.task}`)));
  });
  return maps;
}

/* ---- CTAs over SMs ------------------------------------------------------------------------------- */

/* A group's colour: neighbours have neighbouring hues. */
const HUES = 12;
const hue = (digit, groups) => (digit === "." ? "var(--bar)" : `var(--g${Math.floor((parseInt(digit, 36) * HUES) / Math.max(groups, 1)) % HUES})`);
/* How many groups there are at once: [the sum over time, the time in which there is any]. */
function groupsOf(ctas) {
  const events = ctas.flatMap((c) => [[c.start, 1, c.group], [c.end, -1, c.group]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]), there = new Map();
  let sum = 0, busy = 0, last = 0;
  for (const [at, change, g] of events) {
    if (there.size) sum += there.size * (at - last), (busy += at - last);
    last = at;
    const n = (there.get(g) || 0) + change;
    if (n) there.set(g, n); else there.delete(g);
  }
  return [sum, busy];
}
/* The same on average: of all shown SMs, and of one. */
function atOnce(plan, groups) {
  const ctas = plan.ctas.map((c, i) => ({...c, group: groups[i]})).filter((c) => c.group !== "."), bySm = new Map();
  for (const c of ctas) bySm.set(c.sm, [...(bySm.get(c.sm) || []), c]);
  const sms = [...bySm.values()].map(groupsOf).reduce(([s, b], [sum, busy]) => [s + sum, b + busy], [0, 0]), [sum, busy] = groupsOf(ctas);
  return {all: sum / busy, sm: sms[0] / sms[1]};
}
/* Of a bin. The last one ends with the replay, but its first epoch (heddle/timeline.h) began before it. */
const EPOCH = 512, binCycles = (p, i) => Math.min(p.bin_cycles, Math.max(EPOCH, p.cycles - i * p.bin_cycles));
/* Hits and misses of a cache in each bin, sectors a cycle; `top`: of the scale. */
function strip(s, plan, cache, y, height, x, right, top) {
  s.append(label(x(0), y - 4, `${cache} sectors a cycle`), el("line", {x1: x(0), x2: right, y1: y + height, y2: y + height, stroke: "var(--line)"}));
  for (let v = TICKS(top, 3); v <= top; v += TICKS(top, 3))
    s.append(el("line", {x1: x(0), x2: right, y1: y + height * (1 - v / top), y2: y + height * (1 - v / top), stroke: "var(--line)"}), label(x(0) - 5, y + 4 + height * (1 - v / top), number(v), "end"));
  const key = cache.toLowerCase();
  plan.bins.forEach((b, i) => {
    const all = b[key + "_sectors"], hits = b[key + "_hits"], from = i * plan.bin_cycles, to = Math.min((i + 1) * plan.bin_cycles, plan.cycles);
    if (!all || to <= from) return;
    const scale = height / top / binCycles(plan, i), text = `${number(from / plan.clock_mhz, 4)} to ${number(to / plan.clock_mhz, 4)} \u00b5s\n${cache}: ${percent(share(hits, all))} of ${all} sectors hit`;
    const width = x(to / plan.clock_mhz) - x(from / plan.clock_mhz);
    s.append(bar(x(from / plan.clock_mhz), y + height - hits * scale, width, hits * scale, "var(--good)", text), bar(x(from / plan.clock_mhz), y + height - all * scale, width, (all - hits) * scale, "var(--bad)", text));
  });
}
const rateTop = (plans, cache) => Math.max(...plans.flatMap((p) => p.bins.map((b, i) => b[cache + "_sectors"] / binCycles(p, i))));
/* One plan: its CTAs, a row for each place on an SM; hits and misses beneath. `us`: the time axis's end. */
function lane(d, plan, us, caches) {
  const W = 560, L = 44, TOP = 8, slots = plan.used, rows = Math.ceil(plan.sms / plan.sm_step) * slots;
  const row = Math.min(12, Math.max(2, Math.floor(400 / rows))), pitch = slots * row + (slots > 1 ? 1 : 0), H = (rows / slots) * pitch, STRIP = 56, GAP = 26, s = svg(W, TOP + H + 20 + caches.length * (STRIP + GAP), `CTAs over SMs under ${plan.plan}`);
  const right = W - 12, x = (t) => L + ((right - L) * t) / us, end = TOP + H, step = TICKS(us), every = plan.sm_step * Math.max(1, TICKS(plan.sms / plan.sm_step, 8));
  s.append(el("rect", {x: L, y: TOP, width: right - L, height: H, fill: "var(--panel)"}));
  for (let t = 0; t <= us * 1.0001; t += step) s.append(el("line", {x1: x(t), x2: x(t), y1: TOP, y2: end + caches.length * (STRIP + GAP) + 4, stroke: "var(--line)"}), label(x(t), end + caches.length * (STRIP + GAP) + 16, number(t, 4) + (t ? "" : " \u00b5s"), "middle"));
  for (let sm = 0; sm < plan.sms; sm += every) s.append(label(L - 5, TOP + (sm / plan.sm_step) * pitch + Math.max(row, 8), (sm ? "" : "SM ") + sm, "end"));
  const marks = plan.ctas.map((c) => {
    const from = c.start / plan.clock_mhz, to = c.end / plan.clock_mhz, [gx, gy, gz] = d.grid, at = [c.task % gx, Math.floor(c.task / gx) % gy, Math.floor(c.task / gx / gy)];
    return bar(x(from), TOP + (c.sm / plan.sm_step) * pitch + c.slot * row, Math.max(x(to) - x(from) - 0.5, 0.5), row > 3 ? row - 1 : row, "var(--bar)",
      `CTA ${gz > 1 ? at.join(", ") : at.slice(0, 2).join(", ")}\nSM ${c.sm}, place ${c.slot}\n${number(from, 4)} to ${number(to, 4)} \u00b5s`);
  });
  s.append(el("g", {"shape-rendering": "crispEdges"}, ...marks));
  caches.forEach((c, i) => strip(s, plan, c.name, end + GAP - 8 + i * (STRIP + GAP), STRIP, x, right, c.top));
  return {s, marks};
}
/* What is not there, of a plan. */
function lacks(d, p) {
  const all = d.grid.reduce((a, b) => a * b, 1);
  return [p.tasks < all && `A part of the launch was replayed: CTAs ${p.first + 1} to ${p.first + p.tasks} of the ${all} in its order.`,
    p.sm_step > 1 && `One SM in ${p.sm_step} is shown, with ${p.ctas.length} of the ${p.ran} CTAs that were replayed; hits and misses are those of all.`,
    p.kept_until > 0 && `CTAs that start after ${number(p.kept_until / p.clock_mhz, 4)} \u00b5s are left out.`,
    p.cut_after > 0 && `Warps were cut after ${p.cut_after} instructions, so that CTAs end sooner than they would.`].filter(Boolean).join(" ");
}
/* Both plans with the same SMs, as many as there is room for: ROWS places. */
function fit(d) {
  const ROWS = 180, used = d.plans.map((p) => 1 + Math.max(...p.ctas.map((c) => c.slot)));
  const by = Math.max(...d.plans.map((p) => p.sm_step)); // those that are there are multiples of it
  let step = by;
  while (step < d.plans[0].sms && (d.plans[0].sms / step) * Math.max(...used) > ROWS) step += by;
  return {...d, plans: d.plans.map((p, i) => {
    const there = p.ctas.map((c) => c.sm % step === 0);
    return {...p, used: used[i], sm_step: step, ctas: p.ctas.filter((c, n) => there[n]), groups: p.groups.map((g) => [...g].filter((c, n) => there[n]))};
  })};
}
function timelines(all) {
  const d = fit(all);
  const us = Math.max(...d.plans.map((p) => p.cycles / p.clock_mhz)), caches = ["L1", "L2"].map((name) => ({name, top: rateTop(d.plans, name.toLowerCase())})).filter((c) => c.top > 0);
  const lanes = d.plans.map((p) => lane(d, p, us, caches)), says = d.plans.map(() => el("span")), note = el("span");
  const figures = d.plans.map((p, i) => el("figure", {}, el("figcaption", {}, el("b", {}, p.plan), `: ${number(p.cycles / p.clock_mhz, 5)} \u00b5s. `, says[i], lacks(d, p)), lanes[i].s));
  const paint = (k) => {
    const c = d.colours[k], name = c.array ? "of " + c.array : "that lies in no buffer";
    d.plans.forEach((p, i) => {
      lanes[i].marks.forEach((m, n) => m.setAttribute("fill", hue(p.groups[k][n], c.groups)));
      const n = atOnce(p, p.groups[k]);
      says[i].textContent = `${number(n.all)} colours at once, ${number(n.sm)} on an SM. `;
    });
    note.textContent = ` CTAs of one colour share a part of the data ${name}, those of the next colour the part behind it: ${percent(c.within)} of what CTAs share ${c.array ? "of " + c.array : "there"} is shared within a colour.`;
    [...choice.children].forEach((b, n) => b.setAttribute("aria-pressed", n === k));
  };
  const choice = el("span", {class: "choice"}, ...d.colours.map((c, k) => {
    const b = el("button", {type: "button"}, c.array || "other data");
    b.addEventListener("click", () => paint(k));
    return b;
  }));
  /* At first by the data that the two plans bring together most differently, of what they ask for often. */
  const often = Math.max(...d.colours.map((c) => c.requests));
  const change = (k) => {
    const [a, b] = [d.plans[0], d.plans.at(-1)].map((p) => atOnce(p, p.groups[k]));
    return 4 * d.colours[k].requests < often ? -1 : Math.abs(Math.log(a.all / b.all)) + Math.abs(Math.log(a.sm / b.sm)) || 0;
  };
  if (d.colours.length) paint(d.colours.reduce((best, c, k) => (change(k) > change(best) + 1e-9 ? k : best), 0));
  return [el("p", {class: "sub"}, `Each bar is a CTA of ${d.kernel}, from its start to its end on its SM. `, ...(d.colours.length ? ["Coloured by ", choice, "."] : ["No data is shared by some CTAs and not by others."]), note),
    el("div", {class: "pair"}, ...figures), key([["hits", "var(--good)"], ["misses", "var(--bad)"]])];
}

/* ---- Drawings of a probe --------------------------------------------------------------------------- */

/* A frame with ticks: {s, x, y}, both from 0 to 1 within it. */
function frame(title, xTitle, yTitle, top, step) {
  const W = 1000, H = 280, L = 70, B = 44, s = svg(W, H, title), x = (v) => L + v * (W - L - 20), y = (v) => 14 + (1 - v / top) * (H - B - 14);
  for (let v = 0; v <= top; v += step) s.append(el("line", {x1: L, x2: W - 20, y1: y(v), y2: y(v), stroke: "var(--line)"}), label(L - 6, y(v) + 4, number(v, 4), "end"));
  s.append(label(x(0.5), H - 6, xTitle, "middle"), el("text", {transform: `translate(14,${H / 2}) rotate(-90)`, "text-anchor": "middle"}, yTitle));
  return {s, x, y, under: H - B + 16};
}
const bytes = (v) => (v >= 1 << 20 && v % (1 << 20) === 0 ? `${v >> 20} MB` : `${v / 1024} KB`);
function latency(d) {
  const p = d.latency_by_footprint, top = 1.1 * Math.max(d.dram_cycles, ...p.map((f) => f.cycles));
  if (p.length < 2 || !(top > 0)) return null;
  const at = (v) => (Math.log2(v) - Math.log2(p[0].bytes)) / (Math.log2(p.at(-1).bytes) - Math.log2(p[0].bytes));
  const {s, x, y, under} = frame("latency against footprint", "bytes of the ring", "cycles", top, TICKS(top));
  for (const f of p) if (Number.isInteger(Math.log2(f.bytes)) && Math.log2(f.bytes) % 2 === 0) s.append(label(x(at(f.bytes)), under, bytes(f.bytes), "middle"));
  for (const [name, v, left] of [["L1", d.l1_cycles, 0], ["L2", d.l2_cycles, 0.2], ["DRAM", d.dram_cycles, 0.4]])
    if (v >= 0 && v <= top) s.append(el("line", {x1: x(0), x2: x(1), y1: y(v), y2: y(v), stroke: "var(--soft)", "stroke-dasharray": "4 3"}), label(x(left) + 6, y(v) - 4, `${name}: ${v.toFixed(0)} cycles`));
  s.append(el("polyline", {fill: "none", stroke: "var(--blue)", "stroke-width": 2, points: p.map((f) => `${x(at(f.bytes)).toFixed(1)},${y(f.cycles).toFixed(1)}`).join(" ")}));
  return s;
}
/* bars: [{name, value, text}] */
function bars(title, list, xTitle, yTitle) {
  const top = 1.15 * Math.max(...list.map((b) => b.value)) || 1, {s, x, y, under} = frame(title, xTitle, yTitle, top, TICKS(top));
  list.forEach((b, i) => {
    const left = x((i + 0.2) / list.length), width = x((i + 0.8) / list.length) - left;
    s.append(bar(left, y(b.value), width, y(0) - y(b.value), "var(--blue)", `${b.name}: ${b.text}`), label(left + width / 2, y(b.value) - 4, b.text, "middle"), label(left + width / 2, under, b.name, "middle"));
  });
  return s;
}
/* CTA u of the first wave as a dot at (u, its SM), in another colour where round robin would have put it. */
function waves(d) {
  const maps = el("div", {class: "maps"}), n = d.sms, cell = 230 / n;
  d.launches.forEach((l, i) => {
    const s = svg(230, 230, "which SM runs which CTA");
    s.append(el("rect", {width: 230, height: 230, fill: "var(--panel)"}));
    l.sm.slice(0, n).forEach((sm, u) => s.append(el("circle", {cx: ((u + 0.5) * cell).toFixed(1), cy: ((sm + 0.5) * cell).toFixed(1), r: Math.max(1, cell / 2).toFixed(1),
      fill: sm === u % n ? "var(--base)" : "var(--blue)", "data-tip": `CTA ${u} on SM ${sm}`})));
    maps.append(el("figure", {}, s, el("figcaption", {}, `${l.staggered ? "staggered" : "launch " + (i + 1)}: ${l.distinct_sms} of ${n} SMs`)));
  });
  return maps;
}

/* A bar for each kernel, and over it a shorter one. of(k): {name, length, color, tip; part: how many times as short}. */
function kernelBars(kernels, of) {
  const W = 1000, L = 190, rows = kernels.map(of), s = svg(W, 22 * rows.length, "time by kernel"), longest = Math.max(...rows.map((r) => r.length)) || 1;
  rows.forEach((r, i) => {
    const width = ((W - L - 10) * r.length) / longest, y = 22 * i + 2, name = r.name.length > 26 ? "\u2026" + r.name.slice(-25) : r.name;
    s.append(label(L - 8, y + 12, name, "end"), bar(L, y, width, 16, r.color, `${r.name}\n${r.tip}`));
    if (r.part > 1) s.append(bar(L, y, width / r.part, 16, r.partColor, `${r.name}\n${r.partTip}`));
  });
  return s;
}
/* Kernels' times, and the part of each that no plan can save. */
const profile = (kernels) => kernelBars(kernels, (k) => ({name: k.title || k.kernel, length: k.seconds, color: k.why ? "var(--bar)" : "var(--blue)",
  tip: `${number(k.seconds * 1e6, 5)} \u00b5s in ${k.launches} launches\n${k.why || "plans can touch it"}`,
  part: k.at_most, partColor: "var(--pale)", partTip: `no plan wins more than ${times(k.at_most)}`}));
/* Kernels' shares of the time, and what their plans would leave. */
const shares = (kernels) => kernelBars(kernels, (k) => ({name: k.title, length: k.share, color: "var(--bar)", tip: percent(k.share),
  part: k.plan && k.speedup, partColor: "var(--good)", partTip: `${k.plan}: ${times(k.speedup)}`}));

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
  const box = el("div", {class: "scroll"}, pre), first = pre.querySelector("[data-tip]");
  if (first) requestAnimationFrame(() => (box.scrollTop = first.offsetTop - box.offsetTop - 80));
  const legend = key(REUSE.map(([, name, colour]) => [name, colour]));
  legend.prepend("Accesses by the reuse of their array:");
  return [legend, box];
}

/* ---- PTX line by line, and beside its text under a plan --------------------------------------------- */

const sourceOf = (code, line) => (code.sources && code.sources[line.file] ? (code.sources[line.file].split("\n")[line.source - 1] || "").trim() : "");
/* Each access's hits and waits under the plans, in the text of the original. */
function hot(code, names) {
  const lists = code.plans, all = lists.map((l) => l.reduce((sum, a) => sum + a.waited + a.throttled, 0));
  const byLine = lists.map((l) => new Map(l.filter((a) => a.line).map((a) => [a.line, a]))), anyL1 = lists.some((l) => l.some((a) => a.l1_sectors)), sources = lists[0].some((a) => a.file);
  const both = (at, of, show) => at.map((a, i) => (a ? show(of(a, i)) : "\u2013")).filter((v, i, list) => !i || v !== list[0]).join(" \u2192 ");
  const waits = (a, i) => share(a.waited + a.throttled, all[i]);
  const columns = [["sectors", (at) => both(at, (a) => a.l1_sectors || a.l2_sectors, String)], ...(anyL1 ? [["L1 hits", (at) => both(at, (a) => share(a.l1_hits, a.l1_sectors), percent)]] : []),
    ["L2 hits", (at) => both(at, (a) => share(a.l2_hits, a.l2_sectors), percent)], ["waits", (at) => both(at, waits, percent)]];
  const body = el("tbody");
  let last = "";
  code.before.text.split("\n").forEach((text, i) => {
    const number_ = code.before.first + i, at = byLine.map((m) => m.get(number_)), there = at.find(Boolean), from = there && there.file ? `${there.file}:${there.source}` : "";
    const row = el("tr", {}, el("td", {class: "no"}, String(number_)), el("td", {class: "ptx"}, text.replace(/\t/g, "  ")));
    if (there) {
      const part = Math.max(...at.map((a, k) => (a ? waits(a, k) || 0 : 0)));
      row.className = "access";
      row.dataset.tip = at.map((a, k) => a && `${names[k]}: ${a.accesses} accesses of warps\nwaited ${number(a.waited, 4)} cycles for data, ${number(a.throttled, 4)} to be taken`).filter(Boolean).join("\n");
      row.append(...columns.map(([head, show]) => el("td", head === "waits" ? {style: `background: linear-gradient(to right, color-mix(in srgb, var(--bad) 30%, transparent) ${(100 * part).toFixed(1)}%, transparent 0)`} : {}, show(at))));
    } else row.append(el("td", {colspan: columns.length}));
    if (sources) row.append(from && from !== last ? el("td", {class: "source", "data-tip": from}, `${from}  ${sourceOf(code, there)}`) : el("td"));
    if (from) last = from;
    body.append(row);
  });
  const head = el("tr", {}, el("th", {}, "line"), el("th", {class: "text"}, "PTX"), ...columns.map(([h]) => el("th", {}, h)), ...(sources ? [el("th", {class: "text"}, "source")] : []));
  const box = el("div", {class: "scroll", tabindex: "0"}, el("table", {class: "code"}, el("thead", {}, head), body)), first = body.querySelector(".access");
  if (first) requestAnimationFrame(() => (box.scrollTop = first.offsetTop - 80));
  return [el("p", {class: "sub"}, `What each access of the kernel asked of the caches${lists.length > 1 ? `, under ${names[0]} and, where it differs, under ${names[1]}` : ""}. Waits: its part of the cycles in which warps waited for data of loads, or for accesses to be taken.` +
    (lists[0].some((a) => a.called) ? " Accesses in functions that it calls are not among the lines." : "")), box];
}
/* Texts that mean the same look the same. */
const plain = (line) => line.replace(/\/\/.*/, "").replace(/\s+/g, " ").replace(/ ?([,;:{}()[\]|+]) ?/g, "$1").trim();
/* Myers' shortest edit: [[kind, index in a, index in b]], kind "=", "-" or "+"; NULL: more than `most` lines differ. */
function edits(a, b, most) {
  const trace = [], v = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1)) ? v.get(k + 1) : v.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v.set(k, x);
      if (x < a.length || x - k < b.length) continue;
      const out = [];
      let y = x - k;
      for (let e = d; e >= 0; e--) {
        const w = trace[e], kk = x - y, from = kk === -e || (kk !== e && w.get(kk - 1) < w.get(kk + 1)) ? kk + 1 : kk - 1, px = e ? w.get(from) : 0, py = e ? px - from : 0;
        while (x > px && y > py) out.push(["=", --x, --y]);
        if (e) out.push(from > kk ? ["+", x, --y] : ["-", --x, y]);
      }
      return out.reverse();
    }
  }
  return null;
}
/* Old and new text side by side; long runs that are the same in both are folded. */
function beside(before, after, name) {
  const AROUND = 3, MOST = 1200, split = (t) => t.text.split("\n").map((text, i) => ({text, no: t.first + i, plain: plain(text)})).filter((l) => l.plain);
  const a = split(before), b = split(after), list = edits(a.map((l) => l.plain), b.map((l) => l.plain), MOST);
  if (!list) return [el("p", {class: "sub"}, "The texts differ in more lines than are compared here.")];
  const rows = [];
  for (let i = 0; i < list.length;) {
    let end = i;
    while (end < list.length && (list[end][0] === "=") === (list[i][0] === "=")) end++;
    const run = list.slice(i, end);
    if (run[0][0] === "=") rows.push(...run.map(([, x, y]) => ({x, y, same: true})));
    else {
      const gone = run.filter((r) => r[0] === "-"), come = run.filter((r) => r[0] === "+");
      for (let k = 0; k < Math.max(gone.length, come.length); k++) rows.push({x: gone[k] && gone[k][1], y: come[k] && come[k][2]});
    }
    i = end;
  }
  const shown = rows.map((r, i) => rows.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((n) => !n.same)), body = el("tbody");
  const cells = (l, kind) => [el("td", {class: "no"}, l ? String(l.no) : ""), el("td", {class: "ptx " + (l ? kind : "nothing")}, l ? l.text.replace(/\t/g, "  ") : "")];
  const draw = (r) => el("tr", {}, ...cells(a[r.x], r.same ? "" : "gone"), ...cells(b[r.y], r.same ? "" : "come"));
  for (let i = 0; i < rows.length; i++) {
    if (shown[i]) { body.append(draw(rows[i])); continue; }
    let end = i;
    while (end < rows.length && !shown[end]) end++;
    const hidden = rows.slice(i, end), open = el("button", {type: "button"}, hidden.length > 1 ? `${hidden.length} lines that are the same` : "a line that is the same"), row = el("tr", {class: "fold"}, el("td", {colspan: 4}, open));
    open.addEventListener("click", () => row.replaceWith(...hidden.map(draw)));
    body.append(row);
    i = end - 1;
  }
  const come = list.filter((r) => r[0] === "+").length, gone = list.filter((r) => r[0] === "-").length;
  return [el("p", {class: "sub"}, `${name} adds ${come} line${come === 1 ? "" : "s"} to the kernel's PTX and drops ${gone}. Comments and spaces do not count.`),
    el("div", {class: "scroll", tabindex: "0"}, el("table", {class: "code"}, el("thead", {}, el("tr", {}, el("th", {}, "line"), el("th", {class: "text"}, "original"), el("th", {}, "line"), el("th", {class: "text"}, name))), body))];
}

/* ---- What lies there ------------------------------------------------------------------------------- */

const heading = (text) => el("h2", {}, text);
const COUNTERS = [
  {head: "L1 hits", of: (r) => share(r.l1_hits, r.l1_sectors), show: percent},
  {head: "L2 MB", of: (r) => (r.l2_sectors === "" ? NaN : 32 * r.l2_sectors), show: mb},
  {head: "L2 hits", of: (r) => share(r.l2_hits, r.l2_sectors), show: percent},
  {head: "DRAM MB", of: dram, show: mb},
  {head: "vs compulsory", of: (r) => share(dram(r), r.compulsory_bytes), show: times},
];
function plans(rows) {
  const ok = rows.filter((r) => cost(r) > 0), base = baseOf(ok), best = ok.reduce((a, b) => (cost(b) < cost(a) ? b : a), base);
  const ranked = !base || base.time_us > 0 ? [{head: "predicted \u00b5s", of: (r) => r.time_us, show: (v) => number(v, 5)},
    {head: "speedup", of: (r) => (r.time_us > 0 ? base.time_us / r.time_us : NaN), show: times}]
    : [{head: "traffic MB", of: moved, show: mb}, {head: "of the default's", of: (r) => moved(r) / moved(base), show: percent}];
  return table([{head: "plan", of: (r) => r.plan, text: true}, ...ranked, ...COUNTERS,
    {head: "why not", of: (r) => r.failed || r.why || (r.not_tried && "not tried: " + r.not_tried) || (r.status && r.status !== "ok" ? r.status : ""), prose: true}],
    rows, (r) => (r === best && r !== base ? "best" : r === base ? "base" : ""));
}
/* Without b: the only one. */
function beforeAfter(a, b) {
  const timed = a.time_us > 0 ? [{head: "\u00b5s", of: (r) => r.c.time_us, show: (v) => number(v, 5)}] : [];
  return table([{head: "", of: (r) => r.name}, ...timed,
    ...COUNTERS.map((c) => ({...c, of: (r) => c.of(r.c)}))], b ? [{name: "before", c: a}, {name: "after", c: b}] : [{name: a.plan, c: a}]);
}
/* What bounds the time, in cycles. */
const bounds = (rows) => table([{head: "cycles", of: (r) => r.plan, text: true},
  ...["issue", "L1", "L2", "DRAM"].map((n) => ({head: n, of: (r) => r["cycles_" + n.toLowerCase()], show: (v) => number(v, 6)}))], rows);
const geomean = (rows) => Math.exp(rows.reduce((s, r) => s + Math.log(r.speedup), 0) / rows.length);
const lines = (text) => (text || "").split("\n").filter(Boolean).map((line) => el("p", {class: "sub"}, line));
const KINDS = {
  bench: {
    is: (d) => Array.isArray(d) && d.some((r) => r && r.levers),
    title: (d) => `Bench on ${d[0].device}: ${plural(d.filter((r) => !r.failed).length, "workload")}`,
    open: true,
    draw(d) {
      const seen = new Map(d.map((r) => [r.workload + " " + r.size, r])), all = [...seen.values()], rows = all.filter((r) => !r.failed);
      const clu = rows.filter((r) => r.category === "algorithm" && (r.paper || "").includes("CLU")), levers = [...new Set(rows.flatMap((r) => Object.keys(r.levers || {})))];
      const roof = roofline(rows);
      return [el("p", {class: "verdict"}, `Geometric mean over ${plural(rows.length, "workload")}: ${times(geomean(rows))}; ${plural(rows.filter((r) => r.plan !== "baseline").length, "plan")} won.` +
          (clu.length ? ` Over CLU's algorithm-related applications: ${times(geomean(clu))} over ${clu.length}.` : "")),
        el("p", {class: "sub"}, [...new Set(all.map((r) => [r.device, r.gpu, r.driver && "driver " + r.driver, r.clock_mhz && r.clock_mhz + " MHz", "heddle " + r.heddle].filter(Boolean).join(", ")))].join("; ")),
        table([{head: "workload", of: (r) => r.workload, text: true}, {head: "default \u00b5s", of: (r) => r.default_us, show: (v) => number(v, 5)},
          {head: "best \u00b5s", of: (r) => r.best_us, show: (v) => number(v, 5)}, {head: "speedup", of: (r) => r.speedup, show: times},
          {head: "99% interval", of: (r) => r.low, show: (v, r) => (r.high > 0 && r.plan !== "baseline" ? `${number(r.low, 4)} to ${number(r.high, 4)}` : "\u2013")},
          ...(rows.some((r) => r.second) ? [{head: "second GPU", of: (r) => (r.second ? r.second.speedup : NaN), show: times}] : []),
          {head: "plan", of: (r) => r.plan, text: true},
          ...levers.map((l) => ({head: l, of: (r) => (r.levers[l] ? r.levers[l].speedup : NaN), show: times, shade: (v) => Math.log2(v), tip: (r) => r.levers[l] && r.levers[l].plan})),
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
    is: (d) => d && Array.isArray(d.rows) && d.rows.some((r) => r.plan && "l2_sectors" in r),
    title: (d) => `${d.workload} (${d.size}) on ${d.gpu}: ${!d.answered && d.answered !== undefined ? "no answer"
      : d.speedup === undefined ? "traffic" : d.best === "baseline" ? "no order helps" : d.best + ", " + times(d.speedup)}`,
    draw(d) {
      const base = d.rows[0], best = d.rows.find((r) => r.plan === d.best) || base, two = best === base ? [base] : [base, best], p = d.proof;
      const kept = d.best === "baseline", timed = base.time_us > 0;
      const verdict = !timed ? (kept ? "No plan moves fewer bytes than the default." : `${d.best} moves the fewest bytes: ${mb(moved(best))} MB, the default ${mb(moved(base))} MB.`)
        : kept ? `No order helps: ${d.nothing_helps || "the default is the best of the plans tried"}. The kernel is left as it is.`
        : `${d.best} is predicted to run ${times(d.speedup)} as fast as the default.` +
          (p ? ` The rewritten kernel${d.proved ? "" : " of the smaller size " + d.proof_size} computed the same ${p.bytes} bytes under ${p.dispatchers} dispatchers.${d.proved ? "" : " At this size it was not proved."}` : "") +
          (d.no_reference ? ` The original was not compared with its reference: ${d.no_reference}.` : "") +
          (p && p.assume ? ` It rests on the word ${p.assume}.` : "") + (d.output ? ` It is in ${d.output}.` : "");
      const untried = d.rows.filter((r) => r.not_tried).length, wait = stalls(two);
      return [d.no_answer && el("p", {class: "verdict none"}, d.no_answer + "."), (!d.no_answer || !kept) && el("p", {class: kept ? "verdict none" : "verdict"}, verdict),
        cost(base) > 0 && el("p", {}, `Compulsory traffic (each byte read and written once): ${mb(base.compulsory_bytes)} MB. The default moves ${mb(dram(base))} MB between DRAM and L2, ${mb(32 * base.l2_sectors)} MB between L2 and L1.`),
        ...lines(d.confirmed), heading("The landscape"),
        el("p", {class: "sub"}, `Every plan tried, the one with the least ${timed ? "time" : "traffic"} to the left; in other colours it and the default.` + (untried ? ` ${untried} of the ${d.rows.length} plans were not tried.` : "")),
        ...landscapes(d.rows), heading(kept ? "The default" : "Before and after"), beforeAfter(base, kept ? undefined : best), d.picture && heading("CTAs that share lines"),
        d.picture && el("p", {class: "sub"}, `The grid of ${d.picture.grid.join(" \u00d7 ")} CTAs, ${d.picture.width === d.picture.grid[0] ? "x to the right" : `in rows of ${d.picture.width}`}; the darker, the more of the marked CTA's lines the others use too. A cell stands for ${d.picture.step.join(" \u00d7 ")} CTAs.`),
        d.picture && heat(d.picture), wait && heading("Where warps wait"), ...(wait || []),
        ...(d.timelines ? [heading("CTAs over SMs"), ...timelines(d.timelines)] : []),
        ...(d.code && d.code.before && d.code.plans.length && d.code.plans[0].length ? [heading("PTX by line"), ...hot(d.code, two.map((r) => r.plan))] : []),
        ...(d.code && d.code.after ? [heading("Old and new text"), ...beside(d.code.before, d.code.after, best.plan)] : []), ...(timed ? [heading("Bounds on the time"), bounds(two)] : []), heading("All plans"), plans(d.rows)];
    },
  },
  hot: {
    is: (d) => d && Array.isArray(d.kernels) && "program" in d && "answer" in d,
    title: (d) => d.program,
    draw: (d) => [el("p", {class: d.kernels.some((k) => k.plan) ? "verdict" : "verdict none"}, d.answer + "."),
      table([{head: "kernel", of: (k) => k.title, show: (v, k) => ("category" in k && k.workload ? el("a", {href: k.workload + ".html"}, v) : v), text: true},
        {head: "launches", of: (k) => k.launches}, {head: "share", of: (k) => k.share, show: (v, k) => (v > 0 ? (d.emulated && !("category" in k) ? "~" : "") + percent(v) : "")},
        {head: "category", of: (k) => k.category || "", text: true}, {head: "best plan", of: (k) => k.plan || (!("category" in k) ? "" : k.answered ? "left as it is" : "no answer"), text: true},
        {head: "predicted", of: (k) => (k.plan ? k.speedup : undefined), show: times}, {head: "proved", of: (k) => (k.plan ? (k.proved === "smaller" ? "smaller size" : k.proved) : ""), text: true},
        {head: "why not more", of: (k) => k.why || "", prose: true}], d.kernels),
      heading("Where the time goes"), shares(d.kernels.filter((k) => k.share > 0)), key([["what the plan leaves", "var(--good)"], ["saved, or left as it is", "var(--bar)"]]),
      el("p", {class: "sub"}, d.times + "."),
      d.pins && el("p", {}, "On a GPU: ", el("code", {}, `heddle run --pin ${d.pins.split("/").pop()} -- ${d.program}`), ". A module with a kernel under its plan is in the .ptx file of that name; its last lines say how it is launched.")],
  },
  events: {
    is: (d) => d && Array.isArray(d.traceEvents),
    title: (d) => `Trace events: ${plural(d.traceEvents.filter((e) => e.ph === "X").length, "CTA")} of ${(d.otherData || {}).kernel || "a kernel"}`,
    draw: () => [el("p", {}, "Perfetto (ui.perfetto.dev) and speedscope open this file.")],
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
  run: {
    is: (d) => d && Array.isArray(d.kernels) && "steered" in d,
    title: (d) => `${plural(d.kernels.length, "kernel")}, ${d.launches} launch${d.launches === 1 ? "" : "es"}, ${d.steered} of them steered`,
    draw: (d) => [d.saved || d.lost || d.ready ? el("p", {}, `Saved ${number((d.saved || 0) * 1e3, 4)} ms of the GPU's time, ${percent(share(d.saved_measured || 0, d.saved))} of it by kernels that took turns with the original here. Lost in turns: ${number((d.lost || 0) * 1e3, 4)} ms. Kernels took ${number((d.ready || 0) * 1e3, 4)} ms to get ready.`) : null,
      table([{head: "kernel", of: (k) => k.title || k.kernel, text: true}, {head: "launches", of: (k) => k.launches}, {head: "steered", of: (k) => k.steered},
      {head: "plan", of: (k) => k.plan, text: true}, {head: "speedup", of: (k) => k.speedup, show: times}, {head: "saved ms", of: (k) => (k.saved || 0) * 1e3, show: (v) => v.toFixed(3)},
      {head: "promised", of: (k) => k.promised, show: times}, {head: "here", of: (k) => k.measured, show: times}, {head: "at least", of: (k) => k.low, show: times}, {head: "at most", of: (k) => k.high, show: times},
      {head: "pairs", of: (k) => k.pairs}, {head: "ready ms", of: (k) => k.ready && k.ready * 1e3, show: (v) => (v ? v.toFixed(2) : "")}, {head: "lost ms", of: (k) => k.lost && k.lost * 1e3, show: (v) => (v ? v.toFixed(3) : "")},
      {head: "not steered, because", of: (k) => k.why, prose: true}], d.kernels)],
  },
  profile: {
    is: (d) => d && Array.isArray(d.kernels) && "reached_seconds" in d,
    title: (d) => `Profile: ${number(d.seconds)} s in ${plural(d.kernels.length, "kernel")}`,
    draw: (d) => [el("p", {}, `${plural(d.kernels.length, "kernel")}, ${number(d.seconds * 1e3, 4)} ms, ${percent(share(d.reached_seconds, d.seconds))} of it in kernels that plans can touch.` + (d.emulated ? " Times are the emulator's, and say nothing about a GPU's." : "")),
      d.kernels.length ? profile(d.kernels) : null, key([["plans can touch it", "var(--blue)"], ["of this, no plan can save", "var(--pale)"], ["plans cannot touch it", "var(--bar)"]]),
      table([{head: "kernel", of: (k) => k.title || k.kernel, text: true}, {head: "launches", of: (k) => k.launches}, {head: (d.emulated ? "emulator" : "time") + " \u00b5s", of: (k) => k.seconds * 1e6, show: (v) => number(v, 5)},
        {head: "category", of: (k) => k.category, text: true}, {head: "reuse lost", of: (k) => k.reuse_lost, show: times}, {head: "ceiling", of: (k) => k.at_most, show: times},
        {head: "why not", of: (k) => k.why, prose: true}], d.kernels)],
  },
  probe: {
    is: (d) => d && Array.isArray(d.latency_by_footprint) && Array.isArray(d.launches),
    title: (d) => `${d.title}: ${d.sms} SMs`,
    draw(d) {
      const ring = latency(d), bandwidths = [["L1", d.l1_bytes_per_second], ["L2", d.l2_bytes_per_second], ["DRAM read", d.dram_read_bytes_per_second], ["DRAM copy", d.copy_bytes_per_second]];
      const part = (title, text, drawing) => (drawing ? [heading(title), el("p", {class: "sub"}, text), drawing] : []);
      return [el("p", {}, `${d.sms} SMs, ${number(d.clock_mhz, 5)} MHz while one thread runs. Latency: L1 ${number(d.l1_cycles, 4)}, L2 ${number(d.l2_cycles, 4)}, DRAM ${number(d.dram_cycles, 4)} cycles; lines of ${d.line} bytes.`),
        ...part("Latency against footprint", "One thread walks a ring of lines in random order: cycles from load to use, by what the ring spans.", ring),
        ...part("L1 by carve-out", "The largest ring that L1 still holds, by the part of its store that a kernel asks for as shared memory.",
          bars("L1 by carve-out", d.l1_by_carveout.map((c) => ({name: c.percent + "%", value: c.bytes / 1024, text: `${c.bytes / 1024} KB`})), "asked for as shared memory", "KB that hit")),
        ...part("Bandwidth", "All SMs together; a copy counts what is read and what is written.", bandwidths.some(([, v]) => v > 0) &&
          bars("bandwidth", bandwidths.map(([name, v]) => ({name, value: v / 1e12, text: (v / 1e12).toFixed(2) + " TB/s"})), "", "TB/s")),
        ...part("Bytes that one miss fetches", `Cycles of a load behind a word that was just fetched from DRAM: one miss brings ${d.l1_sector} bytes into L1, ${d.l2_sector} into L2.`,
          bars("bytes that one miss fetches", d.sector_cycles.slice(1).map((v, i) => ({name: String(16 * (i + 1)), value: v, text: String(v)})), "bytes behind the word", "cycles")),
        ...part("Which SM runs which CTA", "The first wave of each launch: CTAs to the right, SMs downwards. Marked: CTA u on SM u, as round robin would have it.", d.launches.length && d.sms ? waves(d) : null),
        d.figures.length ? heading("Figures") : null, d.figures.length ? generic(d.figures) : null];
    },
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
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') cell += text[++i]; /* one quote of the cell itself */
    else if (c === '"') quoted = !quoted;
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
    return {title: `${sweep ? "Sweep" : "Table"}: ${rows.length} rows`, draw: () => (sweep ? [...landscapes(rows), plans(rows)] : [generic(rows)])};
  }
  if (file.skipped) return {title: `left out: ${file.skipped}`, draw: () => []};
  if (Array.isArray(d) && d.length && typeof d[0] === "object") return {title: `${d.length} rows`, draw: () => [generic(d)]};
  return {title: "", draw: () => [el("div", {class: "scroll"}, el("pre", {}, file.text ?? JSON.stringify(d, null, 1)))]};
}

/* ---- The page -------------------------------------------------------------------------------------- */

/* The system's wish, which the style sheet follows by itself, until a reader turns it over. */
const flip = () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};

addEventListener("DOMContentLoaded", () => {
  const files = JSON.parse(document.getElementById("files").textContent), main = document.querySelector("main"), nav = document.querySelector("nav");
  const search = el("input", {type: "search", placeholder: "filter (/)", "aria-label": "filter sections"});
  const dark = el("button", {type: "button", title: "d"}, "dark or light");
  document.querySelector("header").append(...(files.length > 1 ? [search, dark] : [dark]));
  document.body.append(tip);
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
    const link = el("a", {href: "#s" + i}, file.name);
    if (files.length > 1) nav.append(link);
    return {section, details, draw, text: (file.name + " " + d.title).toLowerCase(), link};
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

"use strict";
// The page of a report. It shows the JSON of the element "data", and needs uPlot.

// h makes an element. Names of classes follow a dot; texts are never read as markup.
function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const e = document.createElement(tag);
  if (classes.length) e.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false && value !== null) e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// Numbers, as the tables of a report write them.

function significant(x) {
  const a = Math.abs(x);
  return a === 0 ? "0" : a >= 99.95 ? x.toFixed(0) : a >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

function scaleOf(unit, x) {
  const pick = (step, units) => {
    let by = 1, i = 0;
    while (i < units.length - 1 && Math.abs(x) / by >= step * 0.9995) { by *= step; i++; }
    return [by, units[i]];
  };
  switch (unit) {
    case "count": case "rate": return Math.abs(x) < 9999.5 ? [1, ""] : pick(1000, ["", "k", "M", "G", "T", "P"]);
    case "micros": return pick(1000, [" µs", " ms", " s", " ks"]);
    case "bytes": return pick(1024, [" B", " KiB", " MiB", " GiB", " TiB", " PiB"]);
    case "share": return [0.01, " %"];
    case "percent": return [1, " %"];
  }
  return [1, ""];
}

function written(unit, x) {
  if (x === null || x === undefined || !isFinite(x)) return "–";
  const [by, suffix] = scaleOf(unit, x);
  if (by === 1 && Number.isInteger(x) && Math.abs(x) < 10000) return x.toLocaleString("en") + suffix;
  return significant(x / by) + suffix;
}

const trimmed = (x) => String(Math.round(x * 1000) / 1000);

function tick(unit, x) {
  const [by, suffix] = scaleOf(unit, x);
  return trimmed(x / by) + (x === 0 ? "" : suffix);
}

// Colours are variables of the style, which has two sets of them.

const inks = new Map();
function ink(name) {
  if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return inks.get(name);
}
const palette = { c: 24, n: 64 };
const lineInks = ["--text", "--text", "--soft", "--stall"], lineDashes = [[], [7, 3], [2, 3], []];
function colorOf(code) {
  const n = Number(code.slice(1));
  return code[0] === "l" ? lineInks[n % 4] : `--${code[0]}${n % palette[code[0]]}`;
}
function dashOf(code) {
  const n = Number(code.slice(1));
  if (code[0] === "l") return lineDashes[n % 4];
  const round = Math.floor(n / palette[code[0]]);
  return round ? [2 + 3 * round, 3] : [];
}
function swatch(code, line) {
  const s = h(line ? "span.sw.ln" : "span.sw", { "aria-hidden": "true" });
  if (line) { s.style.borderTopColor = `var(${colorOf(code)})`; s.style.borderTopStyle = dashOf(code).length ? "dashed" : "solid"; } else s.style.background = `var(${colorOf(code)})`;
  return s;
}

// Scales: round steps, and bounds at them.

function roundStep(span) {
  if (!(span > 0)) return 1;
  const step = 10 ** Math.floor(Math.log10(span / 4));
  return span / (step * 5) >= 4 ? step * 5 : span / (step * 2) >= 4 ? step * 2 : step;
}
function linearTicks(low, high) {
  const step = roundStep(high - low), all = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; i++) all.push(i * step);
  return all;
}
function logTicks(low, high) {
  const all = [], factors = high / low < 500 ? [1, 2, 5] : [1];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) for (const f of factors) {
    const v = f * 10 ** p;
    if (v >= low * 0.999 && v <= high * 1.001) all.push(v);
  }
  return all;
}
function bounds(spec) {
  let low = Infinity, high = -Infinity;
  for (const p of spec.panels) for (const l of p.lines) for (const y of l.y) if (y !== null && (!spec.log || y > 0)) { low = Math.min(low, y); high = Math.max(high, y); }
  if (spec.log) {
    if (!(high > 0)) return [1, 10];
    const down = 10 ** Math.floor(Math.log10(low)), up = 10 ** Math.ceil(Math.log10(high));
    const from = [5, 2, 1].map((f) => f * down).find((v) => v <= low * 1.0001);
    const to = [0.2, 0.5, 1].map((f) => f * up).find((v) => v >= high * 0.9999);
    return [from, to < from * 2 ? from * 10 : to];
  }
  const even = spec.even || 0;
  if (spec.unit === "share") return [0, 1];
  if (!(high > even)) return [even, even + 1];
  const by = spec.unit === "bytes" ? scaleOf("bytes", high)[0] : 1;
  const step = roundStep((high - even) / by) * by;
  return [even, even + Math.ceil((high - even) / step - 1e-6) * step];
}

// Charts. Those over time are zoomed and pointed at together.

let plots = [], zoomed = null, zooming = false;
const hidden = new Set();
const live = document.body.appendChild(h("div.hide", { "aria-live": "polite", id: "live" }));

const clocks = [[4 * 3600e3, 3600e3, "hours"], [600e3, 60e3, "minutes"], [0, 1e3, "seconds"]];
const clockOf = (until) => clocks.find(([from]) => until >= from).slice(1);

// xAxis is how an axis of x counts: what its values are divided by, its name, its ticks.
function xAxis(spec) {
  switch (spec.axis) {
    case "time": { const [by, name] = clockOf(spec.until); return { by, name, until: spec.until / by, text: (x) => significant(x) + " " + name[0] }; }
    case "nines": {
      const text = (x) => String(Math.round(1e7 * (100 - 100 * 10 ** -x)) / 1e7);
      const all = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7, 8];
      return { by: 1, name: spec.label, splits: (low, high) => all.filter((x) => x >= low && x <= high), tick: text, text: (x) => `${Number(text(x)).toPrecision(Math.max(3, Math.floor(x) + 2)) * 1} %` };
    }
    case "percent": return { by: 1, name: spec.label, until: 100, tick: (x) => trimmed(x) + " %", text: (x) => trimmed(x) + " %" };
  }
  return { by: 1, name: spec.label, splits: (low, high) => (high - low <= 16 ? Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => Math.ceil(low) + i) : linearTicks(low, high).filter(Number.isInteger)), text: (x) => `${spec.label} ${x}` };
}

function zoom(range) {
  if (zooming) return;
  zooming = true;
  zoomed = range;
  for (const p of plots) if (p.spec.axis === "time" && p.u) p.u.setScale("x", range ? { min: range[0], max: range[1] } : { min: 0, max: p.x.until });
  zooming = false;
  for (const b of document.querySelectorAll("[data-zoom=all]")) b.disabled = !range;
}

function toggle(name) {
  if (!hidden.delete(name)) hidden.add(name);
  for (const p of plots) if (p.u) p.panel.lines.forEach((l, i) => { if (l.name === name) p.u.setSeries(i + 1, { show: !hidden.has(name) }); });
  for (const b of document.querySelectorAll("[data-series]")) if (b.dataset.series === name) b.setAttribute("aria-pressed", String(!hidden.has(name)));
}

function legendOf(spec) {
  const seen = new Map();
  for (const p of spec.panels) for (const l of p.lines) if (!seen.has(l.name)) seen.set(l.name, l.color);
  if (seen.size < 2) return null;
  return h("ul.legend", { "aria-label": "Shown lines" }, [...seen].map(([name, color]) => h("li", {}, h("button", { type: "button", "data-series": name, "aria-pressed": String(!hidden.has(name)), onclick: () => toggle(name) }, swatch(color, true), name))));
}

// table has the figures behind a chart: the median of each line between events, and its range, or
// its values.
function figuresTable(spec, panel, x) {
  const lines = panel.lines.map((l) => ({ ...l, x: l.x || panel.x }));
  const head = ["", ...lines.map((l) => l.name)], rows = [];
  if (spec.axis === "time") {
    const marksOf = (l) => (panel.marks || []).filter((m) => !m.color || m.color === l.color);
    const names = marksOf(lines[0]).map((m) => "from " + m.name);
    ["from the beginning", ...names].forEach((name, i) => {
      rows.push([{ t: name }, ...lines.map((l) => {
        const marks = marksOf(l), from = i ? marks[i - 1]?.at ?? Infinity : 0, to = marks[i]?.at ?? Infinity;
        const all = l.y.filter((y, k) => y !== null && l.x[k] >= from && l.x[k] < to).sort((a, b) => a - b);
        if (!all.length) return { t: "–" };
        return { t: written(spec.unit, all[(all.length - 1) >> 1]), s: `(${written(spec.unit, all[0])}..${written(spec.unit, all[all.length - 1])})` };
      })]);
    });
  } else {
    const xs = [...new Set(lines.flatMap((l) => l.x))].sort((a, b) => a - b), every = Math.ceil(xs.length / 24);
    for (let k = 0; k < xs.length; k += every) rows.push([{ t: x.text(xs[k]) }, ...lines.map((l) => { const i = l.x.indexOf(xs[k]); return { t: i < 0 ? "–" : written(spec.unit, l.y[i]) }; })]);
  }
  return tableOf({ head, rows });
}

function drawMarks(u, marks, by, loud) {
  const { ctx } = u, { left, top, width, height } = u.bbox, r = uPlot.pxRatio;
  ctx.save();
  ctx.font = `${11 * r}px system-ui, sans-serif`;
  ctx.textBaseline = "bottom"; ctx.textAlign = "left";
  let free = left;
  for (const m of marks) {
    const x = u.valToPos(m.at / by, "x", true);
    const end = m.until ? Math.min(u.valToPos(m.until / by, "x", true), left + width) : x;
    if (end > left && x < left + width && !m.color && end > x) {
      ctx.fillStyle = ink("--soft"); ctx.globalAlpha = 0.13;
      ctx.fillRect(Math.max(x, left), top, end - Math.max(x, left), height);
      ctx.globalAlpha = 1;
    }
    if (x < left || x > left + width) continue;
    ctx.strokeStyle = ink(m.color ? colorOf(m.color) : "--soft");
    ctx.lineWidth = r; ctx.setLineDash([4 * r, 3 * r]);
    ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, top + height); ctx.stroke();
    if (loud && m.color && m.color !== loud) continue;
    const w = ctx.measureText(m.name).width, at = Math.max(left, Math.min(x - w / 2, left + width - w));
    if (at < free) continue;
    ctx.fillStyle = ink("--text");
    ctx.fillText(m.name, at, top - 2 * r);
    free = at + w + 6 * r;
  }
  ctx.restore();
}

function plot(part, spec, panel, yRange) {
  const full = spec.panels.length === 1, x = xAxis(spec);
  const readout = h("p.soft", { "data-readout": true }, "\u00a0");
  readout.style.cssText = "min-height:1.5em;font-size:.85rem;margin:.1rem 0;font-variant-numeric:tabular-nums";
  const about = [part.title, panel.title].filter(Boolean).join(", ");
  const box = h("div.plot", { tabindex: "0", role: "group", "aria-label": `Chart: ${about || spec.label}. Arrow keys read values, + and − zoom, 0 shows all. The figures follow as a table.` });
  const wrap = h(full ? "div.panel.full" : "div.panel", {}, panel.title && h("h4", { title: panel.title }, panel.title));
  if (!panel.lines.length) { wrap.append(h("p.nothing", {}, "not known")); return wrap; }
  const details = h("details", { ontoggle: (e) => { if (e.target.open && e.target.children.length < 2) e.target.append(figuresTable(spec, panel, x)); } }, h("summary", {}, "Figures", about && h("span.hide", {}, ` of ${about}`)));
  wrap.append(readout, box, details);

  const scaled = (xs) => (x.by === 1 ? xs : xs.map((v) => v / x.by));
  const tables = panel.lines.map((l) => [scaled(l.x || panel.x), l.y]);
  const data = panel.lines.every((l) => !l.x) ? [tables[0][0], ...tables.map((t) => t[1])] : uPlot.join(tables);
  const nearest = (u, i, at) => {
    const ys = u.data[i];
    for (let d = 0; d < 60; d++) for (const k of [at - d, at + d]) if (ys[k] !== undefined && ys[k] !== null) return k;
    return at;
  };
  const p = { spec, panel, x, box, u: null };
  const say = (u) => {
    const at = u.cursor.idx;
    if (at === null || at === undefined) { readout.textContent = "\u00a0"; return; }
    const values = panel.lines.map((l, i) => [l.name, u.data[i + 1][nearest(u, i + 1, at)]]).filter(([name, y]) => !hidden.has(name) && y !== undefined && y !== null);
    if (values.length > 8) { values.sort((a, b) => b[1] - a[1]); values.length = 8; }
    readout.textContent = [x.text(u.data[0][at]), ...values.map(([name, y]) => (panel.lines.length > 1 ? name + " " : "") + written(spec.unit, y))].join(" · ");
  };
  const first = panel.marks?.find((m) => m.color)?.color;
  const axis = { stroke: () => ink("--soft"), font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif", ticks: { stroke: () => ink("--line"), size: 4, width: 1 }, border: { show: true, stroke: () => ink("--soft"), width: 1 } };
  const make = (width) => {
    p.u = new uPlot({
      width, height: full ? 260 : 190, padding: [panel.marks?.length ? 18 : 8, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, dist: 5 }, dataIdx: nearest, sync: spec.axis === "time" ? { key: "time" } : undefined,
        bind: { dblclick: () => () => (spec.axis === "time" ? zoom(null) : p.u.setScale("x", p.all)) } },
      scales: { x: { time: false }, y: { distr: spec.log ? 3 : 1, range: () => yRange } },
      axes: [
        { ...axis, grid: { show: false }, label: x.name, labelSize: 16, size: 26, space: 46,
          splits: x.splits ? (u, i, low, high) => x.splits(low, high) : undefined, filter: (u, s) => s, values: (u, s) => s.map(x.tick || trimmed) },
        { ...axis, grid: { stroke: () => ink("--line"), width: 1 }, filter: (u, s) => s, splits: (u, i, low, high) => (spec.log ? logTicks(low, high) : spec.unit === "bytes" ? bytesTicks(low, high) : linearTicks(low, high)),
          values: (u, s) => s.map((v) => tick(spec.unit, v)),
          size: (u, texts) => { if (!texts) return 30; u.ctx.save(); u.ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`; const w = Math.max(...texts.map((t) => u.ctx.measureText(t).width)); u.ctx.restore(); return Math.ceil(w / uPlot.pxRatio) + 12; } },
      ],
      series: [{}, ...panel.lines.map((l) => ({ label: l.name, stroke: () => ink(colorOf(l.color)), width: full ? 1.6 : 1.3, dash: dashOf(l.color), show: !hidden.has(l.name), points: { show: (l.x || panel.x).length < 40, size: 5, fill: () => ink(colorOf(l.color)) },
        paths: spec.axis === "percent" ? uPlot.paths.stepped({ align: 1 }) : undefined }))],
      hooks: {
        draw: [(u) => drawMarks(u, panel.marks || [], x.by, first)],
        setScale: [(u, key) => { if (key === "x" && spec.axis === "time" && p.u) zoom([u.scales.x.min, u.scales.x.max]); }],
        setCursor: [say],
      },
    }, data, box);
    const xs = data[0];
    p.all = { min: spec.axis === "time" || spec.axis === "percent" ? 0 : xs[0], max: x.until ?? xs[xs.length - 1] };
    if (p.all.min === p.all.max) p.all.max++;
    zooming = true;
    p.u.setScale("x", spec.axis === "time" && zoomed ? { min: zoomed[0], max: zoomed[1] } : p.all);
    zooming = false;
  };
  box.addEventListener("keydown", (e) => {
    const u = p.u;
    if (!u) return;
    const { min, max } = u.scales.x, at = u.cursor.idx ?? u.valToIdx(min), middle = u.data[0][at];
    const set = (low, high) => { const r = { min: Math.max(low, p.all.min), max: Math.min(high, p.all.max) }; if (spec.axis === "time") zoom([r.min, r.max]); else u.setScale("x", r); };
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[e.key];
    if (by) {
      const k = Math.max(0, Math.min(u.data[0].length - 1, at + (e.shiftKey ? 10 * by : by)));
      u.setCursor({ left: u.valToPos(u.data[0][k], "x"), top: 10 });
      live.textContent = readout.textContent;
    } else if (e.key === "+" || e.key === "=") set(middle - (middle - min) / 2, middle + (max - middle) / 2);
    else if (e.key === "-") set(middle - (middle - min) * 2, middle + (max - middle) * 2);
    else if (e.key === "0" || e.key === "Escape") { if (spec.axis === "time") zoom(null); else u.setScale("x", p.all); } else return;
    e.preventDefault();
  });
  sizes.observe(box);
  p.resize = (width) => { if (width > 40) { if (p.u) p.u.setSize({ width, height: p.u.height }); else make(width); } };
  plots.push(p);
  return wrap;
}

function bytesTicks(low, high) {
  const by = scaleOf("bytes", high)[0];
  return linearTicks(low / by, high / by).map((v) => v * by);
}

const sizes = new ResizeObserver((entries) => {
  for (const e of entries) plots.find((p) => p.box === e.target)?.resize(Math.floor(e.contentRect.width));
});

// zoomTools are the buttons of a section with charts over time: all of it, and each event.
function zoomTools(section) {
  const specs = section.parts.filter((p) => p.chart && p.chart.axis === "time").map((p) => p.chart);
  if (!specs.length) return null;
  const events = [], by = xAxis(specs[0]).by;
  for (const p of specs[0].panels) {
    const counts = new Map();
    for (const m of p.marks || []) {
      const i = counts.get(m.color) || 0, e = events[i] || (events[i] = { name: m.name, from: Infinity, to: 0 });
      counts.set(m.color, i + 1);
      e.from = Math.min(e.from, m.at); e.to = Math.max(e.to, m.until || m.at + 2000);
    }
  }
  return h("div.tools", {}, h("button", { type: "button", "data-zoom": "all", disabled: true, onclick: () => zoom(null) }, "Whole run"),
    events.slice(0, 12).map((e) => h("button", { type: "button", "data-zoom": e.name, onclick: () => zoom([Math.max(0, e.from - 1000) / by, Math.min(specs[0].until, e.to + 1000) / by]) }, "Zoom: " + e.name)),
    h("span.soft", {}, "or drag across a chart"));
}

// Tables, bars, terms.

function cell(tag, c, attributes) {
  const e = h(tag, attributes, c.t, c.s && " ", c.s && h("small", {}, c.s));
  if (c.b) { e.classList.add("best"); e.append(h("span.hide", {}, " (best)")); }
  if (c.y) e.classList.add("yard");
  return e;
}

function tableOf(grid, label) {
  const wide = grid.head.length === 3 && grid.head[1] === "value";
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label || "table" }, h("table.grid", {},
    h("thead", {}, h("tr", {}, grid.head.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, grid.rows.map((row) => h("tr", {}, row.map((c, i) => (i ? cell(wide && i === 1 ? "td.wide" : "td", c) : cell("th", c, { scope: "row" }))))))));
}

function barsOf(spec, model) {
  let high = spec.level || 0;
  for (const g of spec.groups) { high = Math.max(high, g.level || 0); for (const v of g.values) if (v.at !== null && !(model.names[g.values.indexOf(v)] || {}).yardstick) high = Math.max(high, v.at); }
  high = high * 1.02 || 1;
  const part = (x) => Math.min(100, (100 * x) / high);
  return h("div.bars", { role: "list" }, spec.groups.flatMap((g) => [h("b", {}, g.name), h("div", { role: "listitem" }, g.values.map((v, i) => {
    const name = model.names[i], fill = h("i"), track = h("div");
    track.style.cssText = "position:relative;height:100%;flex:1 1 auto;min-width:0";
    fill.style.width = part(v.at || 0) + "%";
    fill.style.background = `var(${colorOf("c" + name.color)})`;
    track.append(fill);
    if (v.at > high) { const cut = h("span.level"); cut.style.cssText = "left:97%;border-left:5px double var(--page)"; track.append(cut); }
    const level = g.level ?? spec.level;
    if (level) { const l = h("span.level"); l.style.left = part(level) + "%"; l.style.padding = 0; track.append(l); }
    if (v.high > v.low) { const s = h("span.spread"); s.style.cssText = `padding:0;left:${part(v.low)}%;width:${part(v.high) - part(v.low)}%`; track.append(s); }
    const text = h(v.best ? "span.best" : "span", {}, `${name.name} ${v.text}`);
    text.style.cssText = "flex:0 0 auto;width:min(52%,17rem);overflow:hidden;text-overflow:ellipsis";
    text.title = `${name.name} ${v.text}`;
    return h("div.bar", {}, track, text);
  }))]));
}

const termsOf = (all) => h("dl.terms", {}, all.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

function partOf(part, model) {
  const all = [];
  if (part.help) all.push(h("p.help", {}, part.help));
  if (part.table) all.push(tableOf(part.table, part.title));
  if (part.chart) {
    const range = bounds(part.chart);
    all.push(legendOf(part.chart), h("div.sides", {}, part.chart.panels.map((p) => plot(part, part.chart, p, range))));
    if (part.chart.panels.length === 1) all[all.length - 1].className = "";
  }
  if (part.bars) all.push(barsOf(part.bars, model));
  if (part.circles) all.push(circlesOf(part.circles, model));
  if (part.grids) all.push(gridsOf(part.grids));
  if (part.legend) all.push(legendOfNames(model));
  if (part.terms) all.push(termsOf(part.terms));
  if (part.command) all.push(h("pre", { tabindex: "0" }, part.command));
  if (part.fold) return h("details", { open: part.fold === "open" }, h("summary", {}, part.title), all);
  return [part.title && h("h3", {}, part.title), ...all].filter(Boolean);
}

function legendOfNames(model) {
  return h("ul.legend", { "aria-label": "Contestants" }, model.names.map((n) => h("li", {}, swatch("c" + n.color), n.title && n.title !== n.name ? h("b", {}, n.name) : n.name, n.title && n.title !== n.name ? ": " + n.title : "", n.yardstick ? h("small", {}, " (yardstick)") : null)));
}

// show fills the page with a model; again and again, if there are dials.
function show(model) {
  for (const p of plots) { sizes.unobserve(p.box); p.u?.destroy(); }
  plots = [];
  document.title = document.querySelector("h1").textContent = model.title;
  document.getElementById("verdict").textContent = model.verdict;
  const main = document.getElementById("main");
  const kept = [...main.querySelectorAll("details[open]")].map((d) => d.firstChild.textContent);
  main.replaceChildren(
    h("div.cards", {}, model.cards.map((c) => h("section.card", { title: c.help }, h("h2", {}, c.title), h("dl", {}, c.values.flatMap((v, i) => [h("dt", {}, swatch("c" + model.names[i].color), model.names[i].name), cell("dd", v)]))))),
    ...model.notes.map((n) => h("p.note", { role: "status" }, n)),
    h("div.lines.help", {}, model.lines.map((l) => h("p", {}, l))),
    h("nav", { "aria-label": "Sections" }, model.sections.map((s) => h("a", { href: "#" + s.id }, s.title))),
    ...model.sections.map((s) => h("section", { id: s.id }, h("h2", {}, s.title), s.text && h("p", {}, s.text), zoomTools(s), s.parts.flatMap((p) => partOf(p, model)))));
  for (const d of main.querySelectorAll("details")) if (kept.includes(d.firstChild.textContent)) d.open = true;
}

// dialsOf is the form of a page whose settings can be changed: each change fetches new data, and ends the
// fetch before it. The address has all settings.
function dialsOf(model) {
  let timer = null, fetching = null;
  const say = h("p.all", { role: "status" }), values = {};
  const change = (name, value, wait) => {
    values[name] = value;
    clearTimeout(timer);
    timer = setTimeout(compute, wait);
  };
  const compute = async () => {
    fetching?.abort();
    const mine = (fetching = new AbortController()), query = new URLSearchParams(values).toString();
    say.textContent = "Computing …";
    try {
      const answer = await fetch("data?" + query, { signal: mine.signal });
      if (!answer.ok) { say.textContent = await answer.text(); return; }
      show(await answer.json());
      history.replaceState(null, "", "?" + query);
      say.textContent = "";
    } catch (e) {
      if (!mine.signal.aborted) say.textContent = "No answer: " + e.message;
    }
  };
  const field = (d) => {
    values[d.name] = d.value;
    if (d.kind === "set") {
      const chosen = new Set(d.value.split(",")), boxes = [...new Set([...d.choices, ...chosen])].map((c) => h("label", { style: "display:inline-block;margin-right:.8rem" }, h("input", { type: "checkbox", style: "width:auto", value: c, checked: chosen.has(c), onchange: () => change(d.name, boxes.map((b) => b.firstChild).filter((b) => b.checked).map((b) => b.value).join(","), 0) }), " " + c));
      return h("fieldset.all", { style: "border:0;padding:0;margin:0;min-width:0" }, h("legend", {}, d.label), boxes);
    }
    if (d.kind === "choice") return h("label", {}, d.label, h("select", { name: d.name, onchange: (e) => change(d.name, e.target.value, 0) }, [...new Set([d.value, ...d.choices])].map((c) => h("option", { selected: c === d.value }, c))));
    if (d.kind === "text") {
      return h("label.all", {}, d.label, h("input", { name: d.name, type: "text", value: d.value, list: "list-" + d.name, spellcheck: "false", oninput: (e) => change(d.name, e.target.value, 400) }), h("datalist", { id: "list-" + d.name }, (d.choices || []).map((c) => h("option", { value: c }))));
    }
    const shown = h("output", {}, d.value);
    return h("label", {}, d.label + ": ", shown, h("input", { name: d.name, type: "range", min: Math.min(d.min || 0, d.value), max: Math.max(d.max, d.value), step: d.step, value: d.value, oninput: (e) => { shown.textContent = e.target.value; change(d.name, e.target.value, 120); } }));
  };
  document.getElementById("main").before(h("form.dials", { "aria-label": "Settings of the simulation", onsubmit: (e) => e.preventDefault() }, model.dials.map(field), say));
}

function repaint() {
  inks.clear();
  for (const p of plots) p.u?.redraw(false);
  document.dispatchEvent(new Event("repaint"));
}

function start() {
  for (const media of ["print", "(prefers-color-scheme: dark)"]) matchMedia(media).addEventListener("change", repaint);
  const model = JSON.parse(document.getElementById("data").textContent);
  show(model);
  if (model.dials) dialsOf(model);
}
document.addEventListener("DOMContentLoaded", start);

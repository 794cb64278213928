"use strict";
// The page listens to /api/v1/events. All texts are set as text, never as HTML.

const $ = (id) => document.getElementById(id);

function h(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) if (v !== undefined) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

const number = (n) => Math.round(n).toLocaleString("en");
function rate(n) { return n >= 100 ? number(n) : n.toFixed(1); }
function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return (i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + " " + units[i];
}
function seconds(s) {
  if (s < 0.001) return Math.round(s * 1e6) + " µs";
  if (s < 1) return (s * 1e3).toFixed(1) + " ms";
  if (s < 120) return Math.round(s) + " s";
  return s < 7200 ? Math.round(s / 60) + " min" : Math.round(s / 3600) + " h";
}
const percent = (x) => (100 * x).toFixed(1) + " %";

// Colours are a node's for as long as the page is open. The golden angle keeps neighbours apart.
const numbers = new Map();
function color(node) {
  if (!numbers.has(node)) numbers.set(node, numbers.size);
  const i = numbers.get(node);
  return `hsl(${Math.round((i * 137.508 + 205) % 360)} ${60 - 8 * (i % 3)}% ${48 + 6 * (i % 2)}%)`;
}
function swatch(node) {
  const e = h("span", { class: "swatch", "aria-hidden": "true" });
  e.style.background = color(node);
  return e;
}

// fill replaces children only where something has changed, so that neither selection nor focus is lost.
function fill(parent, rows) {
  const text = rows.map((r) => r.outerHTML).join("\n");
  if (parent.dataset.text === text) return;
  parent.dataset.text = text;
  parent.replaceChildren(...rows);
}

const columns = [
  ["node", null],
  ["state", (n) => [n.state + (n.role === "store" ? "" : ", " + n.role), "text"]],
  ["health", (n) => [n.health + (n.answered || n.health !== "alive" ? "" : ", no answer"), n.health === "alive" && n.answered ? "text" : "text alarm"]],
  ["serves", (n) => [percent(n.share)]],
  ["primary", (n) => [number(n.primaries)]],
  ["backup", (n) => [number(n.backups) + (n.learners ? " + " + number(n.learners) : "")]],
  ["keys", (n) => [n.answered ? number(n.keys) : "–"]],
  ["data", (n) => [n.answered ? bytes(n.bytes) : "–"]],
  ["ops/s", (n) => [n.load ? rate(n.load.operations || 0) : "–"]],
  ["memory", (n) => [n.machine ? bytes(n.machine.memory_bytes) : "–"]],
  ["disk free", (n) => (n.machine && n.machine.disk_total_bytes ? [`${bytes(n.machine.disk_free_bytes)} of ${bytes(n.machine.disk_total_bytes)}`, n.machine.disk_free_bytes < 0.05 * n.machine.disk_total_bytes ? "alarm" : undefined] : ["–"])],
  ["writes open", (n) => [n.feeding.pending ? `${number(n.feeding.pending)}, ${seconds(n.feeding.pending_seconds)}` : "0"]],
  ["clock", (n) => [n.lease && n.lease.clock_of ? (n.lease.clock_offset_seconds >= 0 ? "+" : "−") + seconds(Math.abs(n.lease.clock_offset_seconds)) : "–", n.lease && n.lease.clock_skewed ? "alarm" : undefined]],
  ["lease", (n) => (n.lease ? (n.lease.valid ? ["valid"] : ["none", "alarm"]) : ["–"])],
  ["zone", (n) => [n.zone || "–", "text"]],
  ["version", (n) => [n.version || "–", "text"]],
];
const textual = ["state", "health", "zone", "version"];
$("nodes-head").append(h("tr", {}, ...columns.map(([name]) => h("th", { scope: "col", class: textual.includes(name) ? "text" : undefined }, name))));

function showNodes(report) {
  fill($("nodes"), report.nodes.map((n) => h("tr", {},
    h("th", { scope: "row", title: n.id + (n.addr ? " at " + n.addr : "") }, swatch(n.id), n.id + (n.id === report.leader ? " (leader)" : "")),
    ...columns.slice(1).map(([, of]) => { const [text, kind] = of(n); return h("td", { class: kind }, text); }))));
}

function showFigures(r) {
  const stores = r.nodes.filter((n) => n.role === "store");
  const sum = (of) => r.nodes.reduce((all, n) => all + (of(n) || 0), 0);
  const s = r.strategy;
  const all = [
    ["strategy", s.name + (s.mask ? " " + s.mask : "") + `, ${s.backups} backup${s.backups === 1 ? "" : "s"}`],
    ["nodes alive", `${stores.filter((n) => n.health === "alive").length} of ${stores.length}`],
    ["ranges", number(r.ranges)],
    ["short of backups", number(r.ranges_short_of_backups), r.ranges_short_of_backups > 0],
    ["lost", number(r.ranges_lost), r.ranges_lost > 0],
    ["keys", number(sum((n) => n.keys))],
    ["data", bytes(sum((n) => n.bytes))],
    ["operations/s", rate(sum((n) => n.load && n.load.operations))],
    ["busiest / mean", r.load_imbalance ? r.load_imbalance.toFixed(2) : "–"],
    ...(r.replica_of ? [["replica of", r.replica_of.addr]] : []),
    ["moving", r.paused ? "paused" : r.throttle_bytes_per_second ? "at most " + bytes(r.throttle_bytes_per_second) + "/s" : "allowed"],
  ];
  fill($("figures"), all.map(([name, value, alarm]) => h("div", {}, h("dt", {}, name), h("dd", alarm ? { class: "alarm" } : {}, value))));
}

function showMoves(r) {
  if (!r.handoffs || r.handoffs.length === 0) return fill($("moves"), [h("p", { class: "nothing" }, "None.")]);
  const rows = r.handoffs.slice(0, 100).map((m) => h("tr", {},
    h("th", { scope: "row" }, swatch(m.from), m.from, " → ", swatch(m.to), m.to),
    h("td", { class: "text" }, m.phase + (m.waits ? ": waits for " + m.waits : "")),
    h("td", {}, number(m.ranges)),
    h("td", {}, m.bytes_total ? h("progress", { max: m.bytes_total, value: m.bytes_done, "aria-label": "bytes sent" }) : "–"),
    h("td", {}, m.reported ? `${bytes(m.bytes_done)} of ${bytes(m.bytes_total)}` : "–"),
    h("td", {}, m.bytes_per_second ? bytes(m.bytes_per_second) + "/s" : "–"),
    h("td", {}, m.seconds_left === undefined ? "–" : seconds(m.seconds_left))));
  const head = h("tr", {}, ...["from, to", "phase", "ranges", "sent", "bytes", "rate", "left"].map((t) => h("th", { scope: "col" }, t)));
  const more = r.handoffs.length - rows.length;
  fill($("moves"), [h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)), ...(more > 0 ? [h("p", { class: "help" }, `and ${more} more`)] : [])]);
}

function showHot(r) {
  const hot = r.nodes.filter((n) => n.load && n.load.hottest_range && n.load.hottest.operations >= 0.1)
    .sort((a, b) => b.load.hottest.operations - a.load.hottest.operations).slice(0, 20);
  if (hot.length === 0) return fill($("hot"), [h("p", { class: "nothing" }, "None: there is no load.")]);
  const rows = hot.map((n) => h("tr", {},
    h("th", { scope: "row" }, swatch(n.id), n.id), h("td", { class: "text" }, n.load.hottest_range),
    h("td", {}, rate(n.load.hottest.operations)), h("td", {}, bytes(n.load.hottest.bytes)),
    h("td", {}, percent(n.load.operations ? n.load.hottest.operations / n.load.operations : 0))));
  const head = h("tr", {}, ...["node", "range", "ops/s", "bytes/s", "of the node"].map((t, i) => h("th", { scope: "col", class: i < 2 ? "text" : undefined }, t)));
  fill($("hot"), [h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))]);
}

function showRemarks(r) {
  const all = (r.remarks || []).map((m) => h("li", m.alarm ? { class: "alarm" } : {}, m.text));
  fill($("remarks"), all.length ? all : [h("li", { class: "none" }, "None.")]);
}

// arcs has one path a node for a ring of the circle: neighbouring ranges of one node are one arc.
function arcs(ranges, nodeOf, inner, outer) {
  const paths = new Map(), n = ranges.starts.length, whole = 2 ** 32;
  const at = (r, token) => { const a = (2 * Math.PI * token) / whole; return `${(r * Math.sin(a)).toFixed(2)} ${(-r * Math.cos(a)).toFixed(2)}`; };
  const add = (node, from, to) => {
    if (node === undefined || node < 0 || to <= from) return;
    // An arc of half a circle or more has no unique path.
    for (let part = from; part < to; part += whole / 4) {
      const end = Math.min(part + whole / 4, to);
      paths.set(node, (paths.get(node) || "") + `M${at(outer, part)}A${outer} ${outer} 0 0 1 ${at(outer, end)}L${at(inner, end)}A${inner} ${inner} 0 0 0 ${at(inner, part)}Z`);
    }
  };
  for (let i = 0; i < n;) {
    const node = nodeOf(i);
    let to = i + 1;
    while (to < n && nodeOf(to) === node) to++;
    add(node, ranges.starts[i], to < n ? ranges.starts[to] : whole);
    i = to;
  }
  if (n > 0 && ranges.starts[0] > 0) add(nodeOf(n - 1), 0, ranges.starts[0]); // the last one goes on behind token 0
  return paths;
}

function showCircle(ranges) {
  const rings = 1 + Math.min(3, ranges.backups.reduce((most, b) => Math.max(most, b.length), 0));
  const picture = svg("svg", { viewBox: "-105 -105 210 210", role: "img", "aria-label": `ranges: ${ranges.starts.length}, nodes: ${ranges.nodes.length}; the table of nodes has their shares` });
  let outer = 100;
  for (let k = 0; k < rings; k++) {
    const inner = outer - (k === 0 ? 26 : 14);
    picture.append(svg("circle", { r: (outer + inner) / 2, fill: "none", stroke: "var(--line)", "stroke-width": outer - inner }));
    for (const [node, d] of arcs(ranges, (i) => (k === 0 ? ranges.primary[i] : ranges.backups[i][k - 1]), inner, outer)) {
      const p = svg("path", { d }, svg("title", {}, ranges.nodes[node] + (k === 0 ? " is primary" : " is backup")));
      p.style.fill = color(ranges.nodes[node]);
      picture.append(p);
    }
    outer = inner - 2;
  }
  $("circle").replaceChildren(picture);
  fill($("legend"), [...ranges.nodes].sort().map((id) => h("li", { title: id }, swatch(id), id)));
}

// showBuckets draws a square for each value of the last bits of a hash, as RING STATUS does: above in the colour of the
// primary, below in that of the first backup. A bucket with fewer bits has several squares.
const mostSquares = 1024;
function showBuckets(buckets) {
  $("buckets").hidden = !buckets || buckets.length === 0;
  if ($("buckets").hidden) return;
  const known = buckets.map((b) => ({ ...b, bits: b.hashmask.split("/").map((x) => parseInt(x, 16)) }));
  const squares = Math.min(Math.max(...known.map((b) => b.bits[1])) + 1, mostSquares);
  const at = new Array(squares).fill(null);
  for (const b of known) for (let i = b.bits[0] % squares; i < squares; i += Math.min(b.bits[1] + 1, squares)) at[i] = at[i] && b.bits[1] >= squares ? at[i] : b;
  const wide = Math.min(32, 2 ** Math.ceil(Math.log2(squares) / 2)), high = Math.ceil(squares / wide);
  const picture = svg("svg", { viewBox: `0 0 ${wide * 12} ${high * 12}`, role: "img", "aria-label": `buckets: ${buckets.length}; the table of nodes has their shares` });
  const part = (node, x, y, height) => {
    const r = svg("rect", { x, y, width: 11, height });
    r.style.fill = node ? color(node) : "var(--alarm)";
    return r;
  };
  at.forEach((b, i) => {
    if (!b) return;
    const x = (i % wide) * 12, y = Math.floor(i / wide) * 12, backups = b.backups || [];
    picture.append(svg("g", {}, svg("title", {}, `bucket ${b.hashmask}: ${b.primary || "no node"}${backups.length ? ", then " + backups.join(", ") : ""}`),
      part(b.primary, x, y, backups.length ? 7 : 11), ...(backups.length ? [part(backups[0], x, y + 8, 3)] : [])));
  });
  $("grid").replaceChildren(picture);
  $("grid").style.maxWidth = `${Math.max(wide * 20, 160)}px`;
}

// The ranges of the last picture: plans are compared with them.
let present = null;

// whatWouldMove has the parts of the circle that would get another primary, and the others, as arcs takes them.
function whatWouldMove(before, after) {
  const starts = [...new Set([0, ...before.starts, ...after.starts])].sort((a, b) => a - b);
  const owners = (r) => {
    let i = -1;
    return starts.map((t) => {
      while (i + 1 < r.starts.length && r.starts[i + 1] <= t) i++;
      return r.nodes[r.primary[i < 0 ? r.starts.length - 1 : i]];
    });
  };
  const was = owners(before), is = owners(after), ranges = { starts };
  let tokens = 0;
  starts.forEach((t, i) => { if (was[i] !== is[i]) tokens += (i + 1 < starts.length ? starts[i + 1] : 2 ** 32) - t; });
  return { ranges, moved: (i) => (was[i] === is[i] ? undefined : is[i]), stays: (i) => (was[i] === is[i] ? is[i] : undefined), share: tokens / 2 ** 32 };
}

function showPlan(plan) {
  const { ranges, moved, stays, share } = whatWouldMove(present, plan.ranges);
  const label = `${percent(share)} of the tokens would get another primary`;
  const picture = svg("svg", { viewBox: "-105 -105 210 210", role: "img", "aria-label": label });
  const receivers = new Set();
  for (const [nodeOf, opacity] of [[stays, 0.2], [moved, 1]]) {
    for (const [node, d] of arcs(ranges, nodeOf, 70, 100)) {
      const p = svg("path", { d, "fill-opacity": opacity }, svg("title", {}, node + (opacity === 1 ? " would become primary" : " stays primary")));
      p.style.fill = color(node);
      picture.append(p);
      if (opacity === 1) receivers.add(node);
    }
  }
  const legend = [...receivers].sort().map((id) => h("li", { title: id }, swatch(id), id));
  $("whatif-answer").replaceChildren(
    h("p", {}, label + (legend.length ? ". They go to:" : ".")),
    h("div", { class: "sides" }, h("div", { class: "circle" }, picture), h("ul", { class: "legend" }, ...legend)),
    h("pre", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the plan" }, plan.text));
}

const examples = { JOIN: ["names, with :weight if it is not 1", "n9 n10:2 ZONE eu-1"], LEAVE: ["names", "n1"], STRATEGY: ["name and settings", "ketama points 160"], LOAD: ["", ""] };
function askWhat() {
  const form = $("whatif"), [what, example] = examples[form.kind.value];
  $("whatif-what").textContent = what;
  form.words.placeholder = example;
  form.words.parentElement.hidden = form.kind.value === "LOAD";
  $("whatif-names").replaceChildren(...(form.kind.value === "LEAVE" && present ? present.nodes.map((id) => h("option", { value: id })) : []));
}
$("whatif").kind.addEventListener("change", askWhat);
askWhat();
$("whatif").addEventListener("submit", async (e) => {
  e.preventDefault();
  const form = e.target, button = form.querySelector("button"), kind = form.kind.value;
  const say = (text, alarm) => $("whatif-answer").replaceChildren(h("p", { class: alarm ? "alarm" : "help" }, text));
  button.disabled = true;
  say("planning …");
  try {
    const reply = await fetch("/api/v1/plan?" + new URLSearchParams({ change: kind === "LOAD" ? kind : `${kind} ${form.words.value}` }));
    if (!reply.ok) say(await reply.text(), true);
    else if (!present) say("the page does not know the ranges yet", true);
    else showPlan(await reply.json());
  } catch { say("no connection to the node", true); } finally { button.disabled = false; }
});

// Orders: what they do, their words, what follows those, and what has to be confirmed. STRATEGY, BACKUPS and BALANCE
// move data; FORGET and LEAVE take nodes out.
const orders = [
  ["stop the moving of data", "PAUSE"], ["let data move again", "RESUME"],
  ["bound the moving of data", "THROTTLE", "bytes/s a node, 0 is no bound", "50mb"],
  ["even the load, once", "BALANCE LOAD ONCE"], ["keep the load even", "BALANCE LOAD ON"], ["do not even the load", "BALANCE LOAD OFF"],
  ["compare all copies", "SCRUB"], ["find hot keys, for ten seconds", "HOTKEYS"],
  ["another number of backups", "BACKUPS", "copies beside the primary", "1", "All ranges get so many backups."],
  ["another strategy", "STRATEGY", "name and settings", "ketama points 160", "Data moves to where the strategy wants it. Plan it first."],
  ["forget a node that is gone", "FORGET", "name", "n1", "A node that is forgotten does not come back with its data."],
  ["this node leaves", "LEAVE", undefined, undefined, "This node hands over what it has, and ends."],
];
$("order").kind.append(...orders.map(([text], i) => h("option", { value: i }, text)));
let user = null; // name and Authorization header of who has logged in; nowhere else
const answer = (text, alarm) => $("order-answer").replaceChildren(h("p", { class: alarm ? "alarm" : "help" }, text));

async function send(command, as) {
  const reply = await fetch("/api/v1/orders", {
    method: "POST", cache: "no-store", headers: { "Content-Type": "application/json", Authorization: as }, body: JSON.stringify({ command }),
  });
  if (!reply.ok) throw new Error((await reply.text()).trim());
  return reply.json();
}

// showHotKeys tracks keys for a while. In the reply, keys with their microseconds follow the field that names them.
async function showHotKeys(as) {
  const trackedFor = 10;
  answer("tracking the keys of all nodes …");
  await send(["HOTKEYS", "START", "METRICS", "1", "CPU", "COUNT", "20", "DURATION", String(trackedFor)], as);
  await new Promise((done) => setTimeout(done, trackedFor * 1000 + 500));
  const values = (await send(["HOTKEYS", "GET"], as)).values || [], first = values.indexOf("by-cpu-time-us") + 1, rows = [];
  for (let i = first; i > 0 && i + 1 < values.length; i += 2) rows.push(h("tr", {}, h("th", { scope: "row" }, values[i]), h("td", {}, seconds(values[i + 1] / 1e6))));
  if (rows.length === 0) return answer("no key was used");
  const head = h("tr", {}, h("th", { scope: "col" }, "key"), h("th", { scope: "col" }, `processor time in ${trackedFor} s`));
  $("order-answer").replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "hot keys" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))));
}
function askOrder() {
  const [, words, what, example] = orders[$("order").kind.value];
  $("order-what").textContent = what || "";
  $("order").words.placeholder = example || "";
  $("order").words.parentElement.hidden = !what;
  $("order-names").replaceChildren(...(words === "FORGET" && present ? present.nodes.map((id) => h("option", { value: id })) : []));
}
function showLogin() {
  $("login").hidden = user !== null;
  $("order").hidden = user === null;
}
async function working(form, work) {
  const button = form.querySelector("button");
  button.disabled = true;
  try { await work(); } catch (e) { answer(e instanceof TypeError ? "no connection to the node" : e.message, true); } finally { button.disabled = false; }
}
$("order").kind.addEventListener("change", askOrder);
askOrder();
$("logout").addEventListener("click", () => { user = null; showLogin(); answer("logged out"); });
$("login").addEventListener("submit", (e) => {
  e.preventDefault();
  const form = e.target, name = form.user.value;
  const as = "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${form.password.value}`)));
  working(form, async () => {
    await send([], as);
    user = { name, as };
    form.password.value = "";
    showLogin();
    answer(`logged in as ${name}`);
  });
});
$("order").addEventListener("submit", (e) => {
  e.preventDefault();
  const form = e.target, [, words, what, , risk] = orders[form.kind.value];
  const command = words.split(" ").concat(what ? form.words.value.split(" ").filter(Boolean) : []), text = "RING " + command.join(" ");
  if (risk && !confirm(`${text}\n\n${risk}`)) return;
  working(form, async () => {
    if (words === "HOTKEYS") return showHotKeys(user.as);
    answer(`${text} …`);
    answer(`${text}: ${(await send(command, user.as)).reply}`);
  });
});

function showDecisions(all) {
  const time = (at) => {
    const t = new Date(at);
    return (t.toDateString() === new Date().toDateString() ? "" : t.toLocaleDateString() + " ") + t.toLocaleTimeString();
  };
  fill($("decisions").firstElementChild, all.length === 0
    ? [h("li", { class: "nothing" }, "nothing yet")]
    : all.map((d) => h("li", {}, h("time", { datetime: d.at }, time(d.at)), " " + d.text)));
}

let shownIndex = null, fetching = false, shownRanges = "", shownAt = 0;
async function updateRanges(index, buckets) {
  // To draw thousands of arcs takes a tenth of a second.
  if (index === shownIndex || fetching || (present && present.starts.length > 4096 && Date.now() - shownAt < 5000)) return;
  fetching = true;
  try {
    const replies = await Promise.all([fetch("/api/v1/ranges"), fetch("/api/v1/decisions")]);
    if (!replies.every((r) => r.ok)) return;
    const [ranges, decisions] = await Promise.all([replies[0].text(), replies[1].json()]);
    if (ranges !== shownRanges) { present = JSON.parse(ranges); showCircle(present); showBuckets(buckets); shownRanges = ranges; askWhat(); }
    showDecisions(decisions); shownIndex = index; shownAt = Date.now();
  } catch { /* the next event tries again */ } finally { fetching = false; }
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const charts = [];
function chart(id, format, lines) {
  const at = $(id), width = () => Math.max(at.clientWidth, 200);
  const axis = { stroke: () => style("--soft"), grid: { stroke: () => style("--line"), width: 1 }, ticks: { stroke: () => style("--line") } };
  const u = new uPlot({
    width: width(), height: 180, cursor: { drag: { x: false, y: false } },
    series: [{ value: (_, t) => (t == null ? "–" : new Date(t * 1000).toLocaleTimeString()) }, ...lines.map(([label, , stroke]) => ({ label, stroke: () => style(stroke), width: 1.5, value: (_, v) => (v == null ? "–" : format(v)) }))],
    axes: [axis, { ...axis, size: 70, values: (_, all) => all.map((v) => (v == null ? "" : format(v))) }],
    scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, 1e-6)] } },
  }, [[], ...lines.map(() => [])], at);
  charts.push({ u, width, lines });
}
chart("throughput", rate, [["commands", (s) => s.commands_per_second, "--a"], ["errors", (s) => s.errors_per_second, "--b"], ["evicted", (s) => s.evicted_per_second, "--c"]]);
chart("latency", seconds, [["p50", (s) => s.p50_seconds, "--a"], ["p99", (s) => s.p99_seconds, "--b"]]);
chart("bytes", bytes, [["data", (s) => s.data_bytes, "--a"], ["memory", (s) => s.memory_bytes, "--b"]]);
addEventListener("resize", () => charts.forEach((c) => c.u.setSize({ width: c.width(), height: 180 })));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.u.redraw()));

let samples = [], whose = "";
function drawSamples() {
  const from = Date.now() / 1000 - 3600;
  samples = samples.filter((s) => s.at >= from);
  for (const c of charts) c.u.setData([samples.map((s) => s.at), ...c.lines.map(([, of]) => samples.map((s) => of(s) ?? null))]);
}
async function loadSamples() {
  const of = whose;
  try {
    const reply = await fetch("/api/v1/history" + (of ? "?" + new URLSearchParams({ node: of }) : ""));
    const all = reply.ok ? await reply.json() : [];
    if (of === whose) { samples = all; drawSamples(); }
  } catch { /* connected anew, or with the next sample: again */ }
}
$("whose").addEventListener("change", () => { whose = $("whose").value; loadSamples(); });

// nameHistories offers the nodes whose last hour can be shown, and keeps what is selected.
function nameHistories(report) {
  const others = report.nodes.filter((n) => n.answered && n.id !== report.asked).map((n) => n.id);
  const all = [["", `${report.asked} (this node)`], ...(report.nodes.length > 1 ? [["*", "all nodes together"]] : []), ...others.map((id) => [id, id])];
  fill($("whose"), all.map(([value, text]) => h("option", { value }, text)));
  if ($("whose").value !== whose) $("whose").value = whose;
  if ($("whose").selectedIndex < 0) { $("whose").value = whose = ""; loadSamples(); }
}

function show(report) {
  document.title = `${report.cluster} · Ringside`;
  $("title").textContent = `Cluster ${report.cluster}`;
  $("state").className = "";
  const leader = report.leader ? `, the leader is ${report.leader}` : ", no leader is known";
  $("state").textContent = `Told by ${report.asked}${leader}`;
  showRemarks(report); showFigures(report); showNodes(report); showHot(report); showMoves(report);
  updateRanges(report.table_index, report.buckets);
  nameHistories(report);
}

function listen() {
  const events = new EventSource("/api/v1/events");
  const lost = (why) => { $("state").className = "lost"; $("state").textContent = why; };
  events.onopen = () => { loadSamples(); };
  events.addEventListener("status", (e) => show(JSON.parse(e.data)));
  events.addEventListener("fault", (e) => lost("The node does not know the cluster: " + JSON.parse(e.data)));
  events.addEventListener("sample", (e) => {
    if (whose) return loadSamples();
    samples.push(JSON.parse(e.data));
    drawSamples();
  });
  events.onerror = () => {
    lost("No connection to the node: what is shown is old.");
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000); // refused: the browser does not try again
  };
}
listen();

// The circles of tokens and the grids of buckets: what is shown step by step.

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// stepper has buttons and a slider for frames. With reduced motion there is no play button.
function stepper(names, draw) {
  let at = 0, timer = null;
  const say = h("output", { "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: Math.max(0, names.length - 1), value: 0, step: 1, "aria-label": "Step", oninput: () => { stop(); go(Number(slider.value)); } });
  const button = (text, label, click, kind) => h(kind || "button", { type: "button", "aria-label": label, onclick: click }, text);
  const back = button("‹ Back", "Step back", () => { stop(); go(at - 1); }), next = button("Next ›", "Next step", () => { stop(); go(at + 1); });
  const play = button("▶ Play", "Play all steps", () => { if (timer) return stop(); if (at === names.length - 1) go(0); play.textContent = "❚❚ Pause"; timer = setInterval(() => { if (!play.isConnected || at >= names.length - 1) return stop(); go(at + 1); }, 1100); }, "button.motion");
  function stop() { clearInterval(timer); timer = null; play.textContent = "▶ Play"; }
  function go(k) {
    at = Math.max(0, Math.min(names.length - 1, k));
    slider.value = at;
    slider.setAttribute("aria-valuetext", names[at]);
    say.textContent = `${at + 1} of ${names.length}: ${names[at]}`;
    back.disabled = at === 0; next.disabled = at === names.length - 1;
    draw(at);
  }
  return [h("div.steps", {}, back, next, play, slider, say), () => go(Math.min(1, names.length - 1))];
}

const nodeOf = (text, i) => (text[i] === "." ? -1 : text.charCodeAt(i) - 256);

// arcs are the paths of a ring, one for each kind of cell, of the cells that have one.
function arcs(n, kindOf, inner, outer) {
  const paths = new Map();
  const at = (r, i) => { const a = (2 * Math.PI * i) / n; return `${(r * Math.sin(a)).toFixed(2)} ${(-r * Math.cos(a)).toFixed(2)}`; };
  for (let i = 0; i < n;) {
    const kind = kindOf(i);
    let to = i + 1;
    while (to < n && to - i < n / 2 && kindOf(to) === kind) to++;
    if (kind >= 0) paths.set(kind, (paths.get(kind) || "") + `M${at(outer, i)}A${outer} ${outer} 0 0 1 ${at(outer, to)}L${at(inner, to)}A${inner} ${inner} 0 0 0 ${at(inner, i)}Z`);
    i = to;
  }
  return paths;
}

function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

function ring(text, inner, outer, title) {
  const g = svg("g", {});
  for (const [node, d] of arcs(text.length, (i) => nodeOf(text, i), inner, outer)) {
    const p = svg("path", { d });
    p.style.fill = `var(${colorOf("n" + node)})`;
    p.append(svg("title", {}, title(node)));
    g.append(p);
  }
  return g;
}

// heat has bars for the load, outwards from a radius; the highest of all states is as long as there is room.
function heat(load, most, from, to) {
  const n = load.length, g = svg("g", { "aria-hidden": "true" });
  let d = "";
  const at = (r, i) => { const a = (2 * Math.PI * i) / n; return `${(r * Math.sin(a)).toFixed(2)} ${(-r * Math.cos(a)).toFixed(2)}`; };
  load.forEach((x, i) => { if (x > 0) { const r = from + ((to - from) * x) / most; d += `M${at(from, i)}L${at(r, i)}L${at(r, i + 1)}L${at(from, i + 1)}Z`; } });
  const p = svg("path", { d });
  p.style.fill = "var(--stall)";
  g.append(svg("circle", { r: from, fill: "none", stroke: "var(--line)", "stroke-width": 0.5 }), p);
  return g;
}

// movesOf are the copies and promotions between two states, in shares of all tokens. A cell that came to
// a node was sent by its primary.
function movesOf(before, now) {
  const all = new Map(), n = now.primary.length;
  const was = (text, i) => (text && text.length ? nodeOf(text, Math.floor((i * text.length) / n)) : -1);
  let moved = 0;
  const add = (from, to, kind) => { const key = from + " " + to, m = all.get(key) || { from, to, primary: 0, copies: 0 }; m[kind] += 1 / n; all.set(key, m); };
  for (let i = 0; i < n; i++) {
    const p = was(before.primary, i), b = was(before.backup, i), np = nodeOf(now.primary, i), nb = now.backup ? nodeOf(now.backup, i) : -1;
    if (np !== p && np >= 0) add(p, np, "primary");
    for (const to of [np, nb]) if (to >= 0 && to !== p && to !== b) { add(p, to, "copies"); moved += 1 / n; }
  }
  return [[...all.values()].sort((a, b) => b.copies + b.primary - a.copies - a.primary), moved];
}

function circlesOf(spec, model) {
  const name = (n) => (n < 0 ? "no node" : model.nodes[n]);
  const boxes = spec.each.map((c) => ({ c, most: Math.max(1e-9, ...(c.loads || []).flat()), box: h("div.panel.circle", {}) }));
  const draw = (k) => {
    for (const { c, most, box } of boxes) {
      const now = c.states[k], before = c.states[spec.frames[k].before] || now;
      const [moves, moved] = k ? movesOf(before, now) : [[], 0];
      const about = `${c.name}, ${spec.frames[k].name}: ${k ? share(moved) + " of all tokens copied" : "the start"}`;
      const n = now.primary.length, changed = (text, old) => (i) => (nodeOf(text, i) !== nodeOf(old, Math.floor((i * old.length) / n)) ? 0 : -1);
      const picture = svg("svg", { viewBox: "-106 -106 212 212", role: "img", "aria-label": about });
      picture.append(ring(before.primary, 100, 104, (x) => `primary before: ${name(x)}`));
      const fresh = svg("g", { class: "fresh" });
      fresh.append(ring(now.primary, 74, 97, (x) => `primary: ${name(x)}`));
      if (now.backup) fresh.append(ring(now.backup, 52, 70, (x) => `first backup: ${name(x)}`));
      if (k) for (const [text, old, r] of [[now.primary, before.primary, 98.5], [now.backup, before.backup, 50.5]]) if (text && old) for (const d of arcs(n, changed(text, old), r - 1.2, r + 1.2).values()) { const p = svg("path", { d }); p.style.fill = "var(--text)"; fresh.append(p); }
      const load = now.load && c.loads[now.load - 1];
      if (load) fresh.append(heat(load, most, 27, 48));
      const label = (y, text, size) => { const t = svg("text", { x: 0, y, "text-anchor": "middle", "font-size": size }, text); t.style.fill = "var(--text)"; return t; };
      picture.append(fresh, label(-3, k ? share(moved) : "start", 13), label(7, k ? "copied" : "", 8));
      if (now.note) picture.append(label(17, now.note, 7));
      const rows = moves.slice(0, 12).map((m) => [{ t: name(m.from) }, { t: name(m.to) }, { t: share(m.primary) }, { t: share(m.copies) }]);
      const open = box.querySelector("details")?.open ?? true;
      box.replaceChildren(h("h4", { title: c.name }, c.name), picture,
        h("details", { open }, h("summary", {}, k ? "What moved between whom" : "What each node has"),
          k ? tableOf({ head: ["from", "to", "primary", "copies"], rows: rows.length ? rows : [[{ t: "nothing" }]] }, about) : tableOf(holdings(now, name), about)));
    }
  };
  const [steps, begin] = stepper(spec.frames.map((f) => f.name), draw);
  begin();
  const used = new Set(spec.each.flatMap((c) => c.states.flatMap((s) => [...new Set(s.primary + (s.backup || ""))])));
  used.delete(".");
  const nodes = [...used].map((t) => t.charCodeAt(0) - 256).sort((a, b) => a - b);
  return h("div", {}, h("ul.legend", { "aria-label": "Nodes" }, nodes.slice(0, 64).map((n) => h("li", {}, swatch("n" + n), name(n)))), steps, h("div.sides", {}, boxes.map((b) => b.box)));
}

const share = (x) => (x > 0 && x < 0.0005 ? "<0.1" : (100 * x).toFixed(1)) + " %";

function holdings(now, name) {
  const all = new Map(), n = now.primary.length;
  [now.primary, now.backup || ""].forEach((text, k) => { for (let i = 0; i < text.length; i++) { const x = nodeOf(text, i), v = all.get(x) || [0, 0]; v[k] += 1 / n; all.set(x, v); } });
  return { head: ["node", "primary", "first backup"], rows: [...all].sort((a, b) => a[0] - b[0]).map(([x, v]) => [{ t: name(x) }, { t: share(v[0]) }, { t: share(v[1]) }]) };
}

// gridsOf are the buckets of each node, step by step.
function gridsOf(spec) {
  const box = h("div.cells");
  const draw = (k) => {
    const f = spec.frames[k];
    box.classList.toggle("wide", f.row > 16);
    box.replaceChildren(...f.nodes.map((n) => {
      const canvas = h("canvas", { role: "img", "aria-label": `${n.name}: ${n.count}. ${(n.changes || []).join(", ")}` });
      canvas.draw = () => drawGrid(canvas, f, n);
      canvas.draw();
      return h("figure", { style: "margin:0;min-width:0" }, h("h4", { title: n.name }, n.name), canvas, h("p.chip", {}, n.count, (n.changes || []).map((c) => h("span.soft", {}, " · " + c))));
    }));
  };
  document.addEventListener("repaint", () => box.querySelectorAll("canvas").forEach((c) => c.draw()));
  const [steps, begin] = stepper(spec.frames.map((f) => f.name), draw);
  begin();
  return h("div", {}, steps, box);
}

function drawGrid(canvas, f, n) {
  const side = 14, margin = 24, r = 2, ctx = canvas.getContext("2d");
  const width = margin + f.row * side, height = f.rows.length * side;
  canvas.width = width * r; canvas.height = height * r;
  ctx.scale(r, r);
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.font = "9px system-ui, sans-serif";
  ctx.fillStyle = ink("--soft");
  f.rows.forEach((t, i) => ctx.fillText(t, margin - 4, i * side + side / 2));
  ctx.textAlign = "center";
  [...n.cells].forEach((c, i) => {
    const x = margin + (i % f.row) * side, y = Math.floor(i / f.row) * side;
    const primary = "PNU".includes(c), backup = "SnD".includes(c);
    ctx.fillStyle = primary ? "#1f5f99" : backup ? "#b7d2ea" : ink("--none");
    ctx.fillRect(x, y, side - 1, side - 1);
    if (primary || backup) {
      ctx.fillStyle = primary ? "#ffffff" : "#12324f";
      ctx.fillText(c === "U" ? "P↑" : c === "D" ? "S↓" : primary ? "P" : "S", x + (side - 1) / 2, y + side / 2);
    }
    if ("NnUD".includes(c)) {
      const w = "Nn".includes(c) ? 2.5 : 1;
      ctx.strokeStyle = ink("Nn".includes(c) ? "--c1" : "--text");
      ctx.lineWidth = w;
      ctx.strokeRect(x + w / 2, y + w / 2, side - 1 - w, side - 1 - w);
    }
    if (c === "x") { ctx.fillStyle = ink("--text"); ctx.fillText("×", x + (side - 1) / 2, y + side / 2); }
  });
}

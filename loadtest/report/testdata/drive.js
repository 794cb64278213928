// Uses the page in each frame as a reader does, and answers what it saw.
const frames = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));

async function use(frame) {
  const win = frame.contentWindow, doc = frame.contentDocument, all = (q) => [...doc.querySelectorAll(q)];
  await frames();
  const width = doc.documentElement.clientWidth;
  const out = all("body *").filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, svg, nav, pre, .hide"));
  const s = { Width: width, Wide: doc.documentElement.scrollWidth, Out: out.length, First: out.length ? out[0].outerHTML.slice(0, 80) : "", Charts: all(".uplot").length, Grids: all(".cells canvas").length };
  s.Canvas = Math.floor(doc.querySelector(".uplot canvas")?.getBoundingClientRect().width || 0);
  const over = doc.querySelector(".u-over"), at = (x) => { const r = over.getBoundingClientRect(); return { clientX: r.left + x * r.width, clientY: r.top + r.height / 2, bubbles: true, movementX: 9, button: 0, view: win }; };
  const mouse = (type, x, on) => (on || over).dispatchEvent(new win.MouseEvent(type, at(x)));
  if (over) {
    mouse("mouseenter", 0.5);
    mouse("mousemove", 0.5);
    await frames();
    s.Hover = over.closest(".panel").querySelector("[data-readout]").textContent.trim();
    over.closest(".plot").dispatchEvent(new win.KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await frames();
    s.Read = doc.getElementById("live").textContent;
  }
  const series = doc.querySelector("[data-series]");
  if (series) {
    const pressed = () => all("[data-series]").filter((b) => b.dataset.series === series.dataset.series).map((b) => b.getAttribute("aria-pressed"));
    series.click();
    s.Toggled = pressed().every((p) => p === "false");
    series.click();
    s.Toggled = s.Toggled && pressed().every((p) => p === "true");
  } else s.Toggled = true;
  const whole = doc.querySelector("[data-zoom=all]"), event = doc.querySelector("[data-zoom]:not([data-zoom=all])");
  if (whole && event) {
    event.click();
    s.Zoomed = !whole.disabled;
    whole.click();
    s.Restored = whole.disabled;
    mouse("mousedown", 0.3);
    mouse("mousemove", 0.6);
    mouse("mouseup", 0.6, doc);
    await frames();
    s.Dragged = !whole.disabled;
    whole.click();
  }
  const next = all(".steps button").find((b) => b.textContent.startsWith("Next"));
  if (next && !next.disabled) {
    const say = next.parentElement.querySelector("output"), before = say.textContent;
    next.click();
    s.Step = say.textContent === before ? "" : say.textContent;
  }
  s.Resources = win.performance.getEntriesByType("resource").length;
  const dial = doc.querySelector(".dials input[type=range]");
  if (dial) {
    const title = doc.querySelector("h1"), changed = new Promise((r) => new win.MutationObserver(r).observe(title, { childList: true }));
    for (const v of [3, 4, 5]) { // the last one counts
      dial.value = v;
      dial.dispatchEvent(new win.Event("input", { bubbles: true }));
    }
    await changed;
    await frames();
    s.Dials = [title.textContent, win.location.search, doc.querySelectorAll(".uplot").length].join(" ");
  }
  return s;
}

// show loads a page in a frame of its own, uses it and takes it away.
async function show({ Src, Width }) {
  const frame = document.createElement("iframe"), loaded = new Promise((r) => frame.addEventListener("load", r));
  frame.width = Width;
  frame.height = 900;
  frame.style.border = 0;
  frame.src = Src;
  document.body.append(frame);
  await loaded;
  const seen = await use(frame);
  frame.remove();
  return seen;
}

addEventListener("load", async () => {
  const seen = [];
  for (const f of list) seen.push(await show(f));
  await fetch("/answer", { method: "POST", body: JSON.stringify(seen) });
});

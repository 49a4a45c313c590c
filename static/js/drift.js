/* The crosshair of drift charts. A chart is one stop of the tab key; the arrow keys walk along its
   runs, and down to the bars of cases fixed and broken. Without this file every mark is a link. */

const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

const prepared = new WeakSet();

/** Charts come with their page, and anew with what is swapped in its place. */
function prepareAll() {
  for (const chart of document.querySelectorAll("[data-drift]")) {
    if (!prepared.has(chart)) prepare(chart);
  }
}

document.addEventListener("htmx:afterSwap", prepareAll);
document.addEventListener("htmx:historyRestore", prepareAll);
prepareAll();

/** Marks and bars in order of time; a bar belongs to the mark of the same place. */
function partsOf(chart) {
  const marks = [...chart.querySelectorAll("[data-drift-mark]")];
  const bars = new Map();
  for (const bar of chart.querySelectorAll(".drift-flips")) bars.set(bar.dataset.place, bar);
  return { marks, bars };
}

function prepare(chart) {
  prepared.add(chart);
  const { marks, bars } = partsOf(chart);
  if (marks.length === 0) return;
  for (const link of [...marks, ...bars.values()]) link.setAttribute("tabindex", "-1");
  marks.at(-1).setAttribute("tabindex", "0");
  chart.addEventListener("keydown", (event) => walk(event, chart, marks, bars));
  chart.addEventListener("focusin", ({ target }) => {
    const link = target.closest("[data-place]");
    if (link) read(chart, markOf(link, marks), link);
  });
  chart.addEventListener("focusout", () => leave(chart, marks));
  for (const plot of chart.querySelectorAll(".drift-plot")) {
    plot.addEventListener("pointermove", (event) => point(event, plot, chart, marks, bars));
    plot.addEventListener("pointerleave", () => leave(chart, marks));
  }
}

function markOf(link, marks) {
  return marks.find((mark) => mark.dataset.place === link.dataset.place);
}

/** The arrow keys: along the line that has the focus, and between marks and bars. */
function walk(event, chart, marks, bars) {
  const link = event.target.closest("[data-place]");
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  const next = nextOf(event.key, link, marks, bars);
  if (next === undefined) return;
  event.preventDefault();
  if (!next) return;
  for (const one of [...marks, ...bars.values()]) one.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus({ preventScroll: true });
}

/** Where the key leads from here; undefined for a key that means nothing. */
function nextOf(key, link, marks, bars) {
  const isBar = link.classList.contains("drift-flips");
  if (key === "ArrowDown") return bars.get(link.dataset.place) ?? null;
  if (key === "ArrowUp") return markOf(link, marks) ?? null;
  if (!(key in STEPS)) return undefined;
  const line = isBar ? [...bars.values()] : marks;
  const at = line.indexOf(link) + STEPS[key];
  return line[Math.min(Math.max(at, 0), line.length - 1)];
}

/** The nearest run under the pointer. */
function point(event, plot, chart, marks, bars) {
  const box = plot.getBoundingClientRect();
  const view = chart.querySelector("[data-drift-cross]").ownerSVGElement.viewBox.baseVal;
  const x = ((event.clientX - box.left) / box.width) * view.width;
  const apart = (mark) => Math.abs(Number(mark.dataset.driftMark) - x);
  const nearest = marks.reduce((best, mark) => (apart(mark) < apart(best) ? mark : best));
  const bar = bars.get(nearest.dataset.place);
  read(chart, nearest, bar && plot.contains(bar) ? bar : nearest);
}

/** Draws the crosshair at the mark and says what the link says. */
function read(chart, mark, link) {
  if (!mark) return;
  chart.classList.add("is-read");
  for (const line of chart.querySelectorAll("[data-drift-cross]")) {
    line.setAttribute("x1", mark.dataset.driftMark);
    line.setAttribute("x2", mark.dataset.driftMark);
  }
  for (const other of chart.querySelectorAll(".is-at")) other.classList.remove("is-at");
  mark.classList.add("is-at");
  chart.querySelector("[data-drift-readout]").textContent = link.getAttribute("aria-label");
}

/** Back to the mark that has the focus, else to the latest run without a crosshair. */
function leave(chart, marks) {
  const link = chart.contains(document.activeElement) && document.activeElement.closest("[data-place]");
  if (link) return read(chart, markOf(link, marks), link);
  chart.classList.remove("is-read");
  for (const other of chart.querySelectorAll(".is-at")) other.classList.remove("is-at");
  const latest = marks.at(-1).getAttribute("aria-label");
  chart.querySelector("[data-drift-readout]").textContent = latest;
}

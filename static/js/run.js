/* Histograms of a run: a bar pressed, or a stretch dragged over, fills in the filters of the case
   table. Without this script each bar is a link to the same cases. */

const SVG = "http://www.w3.org/2000/svg";
const BINS = 20;
const LEAST_SEEN = 120; // pixels
let drag = null;

/** The bin under the pointer. */
function binAt(svg, event) {
  const { left, width } = svg.getBoundingClientRect();
  const bin = Math.floor(((event.clientX - left) / width) * BINS);
  return Math.min(Math.max(bin, 0), BINS - 1);
}

function mark() {
  const { svg, from, to, shade } = drag;
  const { width, height } = svg.viewBox.baseVal;
  const [low, high] = [Math.min(from, to), Math.max(from, to) + 1];
  shade.setAttribute("x", (low / BINS) * width);
  shade.setAttribute("width", ((high - low) / BINS) * width);
  shade.setAttribute("height", height);
}

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest?.(".histogram[data-scorer]");
  if (!svg || event.button !== 0) return;
  const bin = binAt(svg, event);
  const shade = svg.appendChild(document.createElementNS(SVG, "rect"));
  shade.classList.add("histogram-range");
  drag = { svg, from: bin, to: bin, shade, pointer: event.pointerId };
  mark();
});

document.addEventListener("pointermove", (event) => {
  if (drag?.pointer !== event.pointerId) return;
  drag.to = binAt(drag.svg, event);
  mark();
});

document.addEventListener("pointerup", (event) => {
  if (drag?.pointer !== event.pointerId) return;
  const { svg, from, to } = drag;
  end();
  if (from !== to) choose(svg.dataset.scorer, Math.min(from, to), Math.max(from, to));
});

document.addEventListener("pointercancel", end);
document.addEventListener("dragstart", (event) => {
  if (event.target.closest?.(".histogram[data-scorer]")) event.preventDefault();
});

function end() {
  drag?.shade.remove();
  drag = null;
}

/** A bar that is pressed, by pointer or by key, swaps the table instead of the page. */
document.addEventListener("click", (event) => {
  const bar = event.target.closest?.(".histogram[data-scorer] a[data-bin]");
  if (!bar || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const bin = Number(bar.dataset.bin);
  if (choose(bar.closest("svg").dataset.scorer, bin, bin)) event.preventDefault();
});

/** Asks the table for the scores of these bins; says whether there is a form to ask with. */
function choose(scorer, first, last) {
  const form = document.getElementById("filters");
  if (!form) return false;
  const { elements } = form;
  const isTop = last === BINS - 1;
  const asked = {
    verdict: "",
    code: "",
    expected: "",
    answered: "",
    scorer,
    min: first / BINS,
    max: isTop ? 1 : "",
    below: isTop ? "" : (last + 1) / BINS,
  };
  for (const [name, value] of Object.entries(asked)) elements[name].value = value;
  if (elements.unsteady) elements.unsteady.checked = false;
  form.requestSubmit();
  bringInView(document.getElementById("cases"));
  return true;
}

/** Labels of a confusion matrix are those of one scorer: another one has none of them. */
document.addEventListener("change", ({ target }) => {
  if (target.form?.id !== "filters" || target.name !== "scorer") return;
  for (const name of ["expected", "answered"]) target.form.elements[name].value = "";
});

/** Nothing moves where enough of the table is seen to tell that it changes; else the focus goes along. */
function bringInView(table) {
  if (table.getBoundingClientRect().top <= innerHeight - LEAST_SEEN) return;
  table.setAttribute("tabindex", "-1");
  table.focus();
  table.scrollIntoView();
}

/* The verdict that is filtered by is marked above the table, too, which is all that is swapped. */

function markVerdict() {
  const here = new URLSearchParams(location.search);
  const verdict = here.get("scorer") ? null : here.get("verdict");
  for (const link of document.querySelectorAll(".verdicts a")) {
    if (new URLSearchParams(link.search).get("verdict") !== verdict) link.removeAttribute("aria-current");
    else link.setAttribute("aria-current", "true");
  }
}

for (const event of ["htmx:pushedIntoHistory", "htmx:replacedInHistory"]) {
  document.addEventListener(event, markVerdict);
}

/* The page is drawn anew when its run ends; what somebody has typed into the filters by then stays. */

let typed = null;

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const isEnd = detail.shouldSwap && detail.requestConfig.triggeringEvent?.type === "run-ended";
  const filters = isEnd && document.getElementById("filters");
  typed = filters ? [...filters.elements].filter(({ id, type }) => id && type !== "hidden") : null;
});

document.addEventListener("htmx:afterSwap", () => {
  for (const { id, value, checked } of typed ?? []) {
    const control = document.getElementById(id);
    if (control) Object.assign(control, { value, checked });
  }
  typed = null;
});

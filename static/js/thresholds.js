/* The new threshold on a curve of pass rates: dragged, or moved by keys. It is the value of a field,
   whose form asks for the preview. Without this script the field and its button do the same. */

const STEPS = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageDown: -0.1,
  PageUp: 0.1,
  Home: -1,
  End: 1,
};

const prepared = new WeakSet();

/** Charts come with their page, and anew with what is swapped in its place. */
function prepareAll() {
  for (const plot of document.querySelectorAll("[data-threshold-plot]")) {
    if (!prepared.has(plot)) prepare(plot);
  }
}

document.addEventListener("htmx:afterSwap", prepareAll);
document.addEventListener("htmx:historyRestore", prepareAll);
prepareAll();

function prepare(plot) {
  prepared.add(plot);
  const field = document.getElementById(plot.dataset.thresholdPlot);
  const slider = plot.querySelector("[data-threshold-new]");
  const attributes = { role: "slider", tabindex: "0", "aria-label": "New threshold", "aria-valuemin": "0", "aria-valuemax": "1" };
  for (const [name, value] of Object.entries(attributes)) slider.setAttribute(name, value);
  draw(slider, Number(field.value));
  field.addEventListener("input", () => {
    if (field.value !== "" && field.validity.valid) draw(slider, Number(field.value));
  });
  slider.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(field, Number(field.value) + STEPS[event.key]);
  });
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    slider.focus({ preventScroll: true });
    follow(event, plot, field);
  });
  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) follow(event, plot, field);
  });
}

/** To where the pointer is. */
function follow(event, plot, field) {
  const { left, width } = plot.getBoundingClientRect();
  choose(field, (event.clientX - left) / width);
}

/** Fills in the field, in hundredths within 0 and 1. */
function choose(field, value) {
  const text = String(Math.round(Math.min(Math.max(value, 0), 1) * 100) / 100);
  if (text === field.value) return;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function draw(slider, value) {
  slider.firstElementChild.setAttribute("x", `${value * 100}%`);
  slider.setAttribute("aria-valuenow", String(value));
}

/* Under a histogram of a run: the line of the threshold follows its slider. */

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-threshold-range]")) return;
  const histogram = target.closest("td").querySelector(".histogram");
  const line = histogram.querySelector(".threshold");
  for (const end of ["x1", "x2"]) line.setAttribute(end, Number(target.value) * histogram.viewBox.baseVal.width);
  line.classList.add("is-new");
  target.form.querySelector("[data-threshold-shown]").textContent = target.value;
});

/* Ticked cases of a list: how many, said as they are ticked; all of the page at once; the key x. The
   box in the table's head names the boxes of the rows. Ticks stay while the list is sorted and its
   pages are turned: those of other pages are hidden fields of its form. */

const head = () => document.querySelector("[data-ticks]");
const ticks = () => [...document.querySelectorAll(`tbody input[name="${head().dataset.ticks}"]`)];

const others = () => [...document.querySelectorAll("input[data-ticked]")];
const ticked = () => [...ticks().filter((tick) => tick.checked), ...others()];
let turned = [];
let seen; // what was decided when the first of them was ticked

document.addEventListener("change", ({ target }) => {
  if (!head()) return;
  if (target === head()) for (const tick of ticks()) tick.checked = target.checked;
  if (target === head() || ticks().includes(target)) count();
});

function count() {
  const every = ticks();
  const number = every.filter((tick) => tick.checked).length;
  const elsewhere = others().length;
  const where = elsewhere ? ` (${elsewhere} on other pages)` : "";
  const said = document.getElementById("selected-count");
  said.dataset.none ??= said.textContent;
  const total = number + elsewhere;
  said.textContent = total ? `${total}${where} ${said.dataset.some}` : said.dataset.none;
  head().checked = number === every.length;
  head().indeterminate = number > 0 && number < every.length;
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const isTurned = head() && detail.requestConfig.elt.closest(".pager, .table thead");
  turned = isTurned ? ticked().map((tick) => tick.value) : [];
  seen = isTurned && head().form?.elements.seen?.value;
});

document.addEventListener("htmx:afterSwap", () => {
  if (!head() || !(turned.length || ticked().length)) return;
  if (turned.length && seen) head().form.elements.seen.value = seen;
  for (const value of turned.splice(0)) {
    const tick = ticks().find((each) => each.value === value);
    if (tick) tick.checked = true;
    else head().form.append(elsewhereTicked(value));
  }
  count();
});

function elsewhereTicked(value) {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: head().dataset.ticks, value });
  field.dataset.ticked = "";
  return field;
}

/** Enter in the field of the tag means the tag, not the first button of the form. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.(".tagging input")) return;
  event.preventDefault();
  event.target.nextElementSibling.click();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!head() || !document.getElementById("keys-on").checked) return;
  const row = event.target.closest?.("tr");
  ticks().find((tick) => row?.contains(tick))?.click();
});

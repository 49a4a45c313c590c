/* Ticked cases of a list: how many, said as they are ticked; all of the page at once; the key x. The
   box in the table's head names the boxes of the rows. */

const head = () => document.querySelector("[data-ticks]");
const ticks = () => [...document.querySelectorAll(`tbody input[name="${head().dataset.ticks}"]`)];

document.addEventListener("change", ({ target }) => {
  if (!head()) return;
  if (target === head()) for (const tick of ticks()) tick.checked = target.checked;
  if (target === head() || ticks().includes(target)) count();
});

function count() {
  const every = ticks();
  const number = every.filter((tick) => tick.checked).length;
  const said = document.getElementById("ticked");
  said.dataset.none ??= said.textContent;
  said.textContent = number ? `${number} ${said.dataset.some}` : said.dataset.none;
  head().checked = number === every.length;
  head().indeterminate = number > 0 && number < every.length;
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

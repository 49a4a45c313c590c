/* Keys that sign off broken cases: a, r, w and o press the button that says so (data-sign-off), for the
   ticked cases, else for the row that has the focus. Without either they do nothing, since the
   buttons then act on the whole list. */

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
  const button = document.querySelector(`[data-sign-off="${CSS.escape(key)}"]`);
  if (!button || !document.getElementById("keys-on").checked) return;
  if (!hasTicks() && !tickRow(target)) return;
  event.preventDefault();
  button.click();
  if (button.matches("summary")) button.parentElement.querySelector("textarea").focus();
});

const hasTicks = () =>
  Boolean(document.querySelector("#ticks tbody input[name=place]:checked, #ticks input[data-ticked]"));

/** Ticks the row that has the focus; says whether there is one. */
function tickRow(target) {
  const tick = target.closest?.("#ticks tbody tr")?.querySelector("input[name=place]");
  tick?.click();
  return Boolean(tick);
}

/** Enter in a term of a waiver means the waiver; elsewhere in this form it means nothing. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.(".waiver-terms input")) return;
  event.preventDefault();
  event.target.closest(".waiver-terms").querySelector("button").click();
});

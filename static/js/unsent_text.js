/* Notes and comments while they are written. What is typed and not sent is kept in the tab, by person
   and case (data-kept), and given back when its field is there again; once it is sent it is dropped.
   Ctrl+Enter sends, Escape leaves. Without this script they are plain forms. */

const MOST_TEXTS = 50;

const texts = () => JSON.parse(sessionStorage.getItem("typed") ?? "{}");
const isChanged = (field) => field.value !== field.defaultValue;
const fieldsOf = (part) => [...part.querySelectorAll("textarea[data-kept]")];

function keep(field) {
  const { [field.dataset.kept]: _, ...others } = texts();
  const all = isChanged(field) ? { ...others, [field.dataset.kept]: field.value } : others;
  const latest = Object.entries(all).slice(-MOST_TEXTS);
  sessionStorage.setItem("typed", JSON.stringify(Object.fromEntries(latest)));
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("textarea[data-kept]")) keep(target);
});

/** Puts back what was typed, where the field says what it said to begin with. */
function giveBack() {
  const all = texts();
  for (const field of fieldsOf(document)) {
    const text = all[field.dataset.kept];
    if (text === undefined || isChanged(field)) continue;
    field.value = text;
    const menu = field.closest("details");
    if (menu) menu.open = true;
  }
}

document.addEventListener("htmx:afterSettle", giveBack);
document.addEventListener("htmx:historyRestore", giveBack);
addEventListener("pageshow", giveBack);

/* What was typed while the answer took its time is no part of what was sent, and stays. */

const sent = new WeakMap();

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb === "get") return;
  const typed = fieldsOf(detail.elt).map((field) => [field.dataset.kept, field.value]);
  sent.set(detail.xhr, new Map(typed));
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const isTaken = detail.shouldSwap && detail.xhr.status < 300;
  const told = isTaken ? sent.get(detail.xhr) : undefined;
  if (!told) return;
  const left = Object.entries(texts()).filter(([name, text]) => told.get(name) !== text);
  sessionStorage.setItem("typed", JSON.stringify(Object.fromEntries(left)));
});

/* Keys inside a field. */

document.addEventListener("click", (event) => {
  const menu = event.target.closest("summary")?.parentElement;
  const field = menu?.querySelector("textarea[data-kept]");
  if (!field || menu.open) return;
  event.preventDefault(); // opened here, so that what is typed at once gets into the field
  menu.open = true;
  field.focus();
  field.form.scrollIntoView({ block: "nearest" }); // with its button
  field.setSelectionRange(field.value.length, field.value.length);
});

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (!target.matches("textarea[data-kept]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send(target);
  } else if (event.key === "Escape") leave(target);
});

/** Presses the button of the field, unless nothing can be sent yet. */
function send(field) {
  const button = document.getElementById(field.dataset.sends);
  if (button && !button.disabled) button.click();
}

/** From a field inside a menu back to what opened it; what was changed stays in sight. */
function leave(field) {
  const menu = field.closest("details");
  if (!menu) return;
  menu.open = isChanged(field);
  menu.querySelector("summary").focus();
}

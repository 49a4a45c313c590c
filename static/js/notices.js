/* Notices of what has ended lie over the lower left corner. New ones are read out, and fold into one
   line after some seconds; Escape folds them, too, and then takes the line away. They never lie over
   the field that has the focus: they go to the upper corner then, or out of sight. */

const FOLDED_AFTER_MS = 8_000;
const READ_AFTER_MS = 150; // a live region that has just come reads nothing out

const told = new Set(JSON.parse(sessionStorage.getItem("notices") ?? "[]"));
let state = "folded"; // or open, or hidden
let timer = 0;

const box = () => document.getElementById("notices");

/** After the page or a part of it has come: what nobody in this tab was told opens. */
function arrange() {
  const notices = [...(box()?.querySelectorAll("[data-notice]") ?? [])];
  const fresh = notices.filter((notice) => !told.has(notice.dataset.notice));
  for (const notice of fresh) told.add(notice.dataset.notice);
  if (fresh.length > 0) {
    sessionStorage.setItem("notices", JSON.stringify([...told]));
    setTimeout(() => fresh.forEach(readOut), READ_AFTER_MS);
    turn("open");
  } else turn(state);
}

function readOut(notice) {
  if (notice.isConnected && !notice.contains(document.activeElement)) notice.replaceWith(notice);
}

function turn(to) {
  state = to;
  const here = box();
  if (!here) return;
  here.dataset.state = state;
  here.querySelector("[data-folds]")?.setAttribute("aria-expanded", String(state === "open"));
  clearTimeout(timer);
  if (state === "open") timer = setTimeout(foldUnlessRead, FOLDED_AFTER_MS);
  makeWay();
}

function foldUnlessRead() {
  turn(box()?.matches(":hover, :focus-within") ? "open" : "folded");
}

/** Off the focused control: into the upper corner, and out of sight where that is covered, too. */
function makeWay() {
  const here = box();
  const at = document.activeElement;
  if (!here || here.contains(at)) return;
  here.dataset.place = "below";
  if (at === document.body || at.matches("main") || !lieOver(here, at)) return;
  here.dataset.place = "above";
  if (lieOver(here, at)) here.dataset.place = "away";
}

function lieOver(one, other) {
  const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-folds]")) turn(state === "open" ? "folded" : "open");
});

document.addEventListener("keydown", (event) => {
  const isElsewhere = document.querySelector("dialog[open], details.menu[open]");
  if (event.key !== "Escape" || isElsewhere || !box()?.querySelector("[data-folds]")) return;
  const hadFocus = box().contains(document.activeElement);
  turn(state === "open" ? "folded" : "hidden");
  if (hadFocus && state === "folded") box().querySelector("[data-folds]").focus();
}, true);

for (const event of ["focusin", "scrollend", "htmx:afterSettle"]) {
  document.addEventListener(event, makeWay);
}
addEventListener("resize", makeWay);
document.addEventListener("htmx:afterSwap", arrange);
document.addEventListener("htmx:historyRestore", arrange);
arrange();

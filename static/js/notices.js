/* Notices of what has ended lie over the lower edge. New ones are read out, and fold into one line
   after some seconds; Escape folds them, too, and then takes the line away. They go where no field lies
   beneath, new ones at least off the one that has the focus, else out of sight. */

const FOLDED_AFTER_MS = 8_000;
const FIELDS = "input, select, textarea, button, summary";
const PLACES = ["below", "left", "right", "above"];
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

/** To the first place, or the present one, where no field is covered. */
function makeWay() {
  const here = box();
  const at = document.activeElement;
  if (!here || here.contains(at)) return;
  const fields = [...document.querySelectorAll(FIELDS)].filter((field) => !here.contains(field));
  const used = state === "open" ? [at].filter((one) => one.matches(FIELDS)) : fields;
  const present = here.dataset.place;
  const places = PLACES.includes(present) ? [present, ...PLACES] : PLACES;
  here.dataset.place = freePlace(here, places, fields) ?? freePlace(here, places, used) ?? "away";
}

function freePlace(here, places, fields) {
  return places.find((place) => {
    here.dataset.place = place;
    return !fields.some((field) => lieOver(here, field));
  });
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

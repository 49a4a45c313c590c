/* Where somebody was: the focus after a part of the page was swapped, and after Back the place on the
   page and in its list. htmx keeps the focus where the focused element has an id. */

const CONTROLS = "a, button, input, select, textarea, summary";
const MOST_PLACES = 50;

const isAble = (control) => !control.disabled && control.checkVisibility();
const nearest = (control) => control.parentElement?.closest("[id]")?.id;
const controls = (part) => [...part.querySelectorAll(CONTROLS)].filter(isAble);

/** What stays the same of a control when it is drawn anew. What was typed is no part of it. */
function addressOf(element) {
  const { tagName, id, name, type, value } = element;
  const chosen = /^(button|submit|checkbox|radio)$/.test(type) ? value : "";
  return [tagName, id, name, chosen, element.getAttribute("href")].join("\n");
}

/** Its words as they are read out. */
const wordsOf = (element) => element.getAttribute("aria-label") ?? element.textContent;

/* After a swap. Going back settles, too, but in no target: that is below. */

const left = new WeakMap(); // by request, as several answers may be settling: what had the focus before
let given = null;
let held = null;
let unfolded = [];

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  given = null;
  if (leadsOn(detail)) return begin(detail);
  unfolded = isHere(detail) ? [...folds()].filter(([, fold]) => fold.open).map(([name]) => name) : [];
  held = isSeen(detail.target) ? scrollY : null;
  const active = document.activeElement;
  if (detail.target.contains(active) && active !== document.body) left.set(detail.xhr, leaving(active));
});

/** Whether the answer is a part of this page or this page again, and no other one. */
function isHere({ target, xhr }) {
  return target.id !== "main" || new URL(xhr.responseURL).pathname === location.pathname;
}

/** Whether another page is the answer: that begins at its top, but for one of the same parts or list. */
function leadsOn(detail) {
  const isBeside = detail.requestConfig.elt.closest("nav");
  return !isHere(detail) && !isBeside && detail.xhr.status < 300;
}

/** The next page from its top, whatever had the focus. */
function begin({ xhr }) {
  held = 0;
  unfolded = [];
  left.set(xhr, { isOver: true });
}

/** The control, the menu it is in, its row and the parts around it, the nearest first. */
function leaving(control) {
  const around = [];
  for (let one = control; one; one = one.parentElement) if (one.id) around.push(one.id);
  const row = control.closest("tr, li");
  const rows = row?.parentElement;
  const menu = control.closest("details")?.querySelector("summary");
  return {
    address: control.id || control.name || control.href ? addressOf(control) : "",
    tag: control.tagName,
    words: wordsOf(control),
    within: nearest(control),
    menu: menu && wordsOf(menu),
    list: rows?.closest("[id]")?.id,
    rows: rows && [rows.tagName, ...rows.classList].join("."),
    row: row ? [...rows.children].indexOf(row) : -1,
    around,
  };
}

function isSeen(part) {
  const { top, bottom } = part.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
}

/* The new part stands before the old one for a moment. A browser that holds on to the old one then
   scrolls the page down by the height of the new one. */
document.addEventListener("htmx:afterSwap", () => {
  if (held !== null) scrollTo({ top: held, behavior: "instant" });
  const drawn = unfolded.length > 0 ? folds() : new Map();
  for (const name of unfolded) drawn.get(name)?.setAttribute("open", "");
});

/* At once, as a key that is pressed before the new part has settled would be lost; and again then, as
   settling takes off what the answer did not come with. */
function restore({ detail }) {
  const at = document.activeElement;
  const before = left.get(detail.xhr);
  if (!before || !detail.target || (at !== document.body && at !== given)) return;
  const part = document.getElementById(detail.target.id) ?? detail.elt;
  given = part.querySelector("[data-focus-first]") ?? found(part, before);
  if (!given.matches(CONTROLS)) given.setAttribute("tabindex", "-1");
  given.focus({ preventScroll: true });
  if (document.activeElement !== document.body) return;
  given = document.getElementById("main");
  given.focus({ preventScroll: true });
}

/* htmx gives the focus to [autofocus] once more when the part settles. Somebody may be typing in the
   next field by then, so the attribute is taken for the mark that `restore` looks for. */
document.addEventListener("htmx:afterSwap", () => {
  for (const control of document.querySelectorAll("[autofocus]")) {
    control.removeAttribute("autofocus");
    control.dataset.focusFirst = "";
  }
});

document.addEventListener("htmx:afterSwap", restore);
document.addEventListener("htmx:afterSettle", (event) => {
  restore(event);
  left.delete(event.detail.xhr);
});

/* A link to a part of the page brings it in sight after the swap. The focus goes along, where it would
   be left out of sight. */
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const part = detail.pathInfo?.anchor && document.getElementById(detail.pathInfo.anchor);
  if (!part) return;
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body && isSeen(document.activeElement)) return;
    part.setAttribute("tabindex", "-1");
    part.focus({ preventScroll: true });
  });
});

/** Folds by their words and, of several of the same words, by place. An open one stays open. */
function folds() {
  const found = new Map();
  for (const fold of document.querySelectorAll("details.fold, details.notice-fold")) {
    const words = wordsOf(fold.querySelector("summary"));
    let place = 0;
    while (found.has(`${words} ${place}`)) place += 1;
    found.set(`${words} ${place}`, fold);
  }
  return found;
}

/** The same control, else one of the same words, its menu, the row in its place, a part around. Where
    another page begins, its heading. */
function found(part, { isOver, address, tag, words, within, menu, list, rows, row, around }) {
  if (isOver) return document.querySelector("#main h1") ?? part;
  const all = controls(part);
  const isBeside = (control) => nearest(control) === within;
  const isAlike = (control) => addressOf(control) === address && (control.id || isBeside(control));
  const alike = all.filter(isAlike);
  const isNamed = (control) => control.tagName === tag && wordsOf(control) === words;
  const named = words.trim() ? all.filter(isNamed) : [];
  return (
    alike.find((control) => wordsOf(control) === words) ?? alike[0] ?? named.find(isBeside) ?? named[0] ??
    all.find((control) => control.matches("summary") && wordsOf(control) === menu) ??
    inRow(document.getElementById(list)?.querySelector(rows), row) ??
    around.map((id) => document.getElementById(id)).find((one) => one && isAble(one)) ?? part
  );
}

/** The last control of the row that stands where one was, or of the last row. */
function inRow(rows, at) {
  const row = rows?.children[Math.min(at, rows.children.length - 1)];
  return row && controls(row).at(-1);
}

/* After Back. A page that is loaded anew gets its scroll position from the browser, one that htmx
   restores gets it here; both get the focus. Kept in the tab alone: addresses, never what was typed. */

const written = () => location.pathname + location.search;
let here = written();

const places = () => JSON.parse(sessionStorage.getItem("places") ?? "{}");

function keep() {
  const all = places();
  delete all[here];
  const control = document.activeElement ?? document.body;
  const within = control.closest("[id]")?.id ?? "";
  const focus = addressOf(control);
  all[here] = { y: scrollY, within, focus, at: alike(within, focus).indexOf(control) };
  const latest = Object.entries(all).slice(-MOST_PLACES);
  sessionStorage.setItem("places", JSON.stringify(Object.fromEntries(latest)));
}

function refocus({ within, focus, at }) {
  if (at >= 0) alike(within, focus)[at]?.focus({ preventScroll: true });
}

/** Controls of this address in the part of this id, or the control itself that has it. */
function alike(id, address) {
  const part = document.getElementById(id) ?? document;
  return [part, ...controls(part)].filter((one) => one !== document && addressOf(one) === address);
}

addEventListener("pagehide", keep);
document.addEventListener("htmx:beforeHistorySave", keep);

for (const event of ["htmx:pushedIntoHistory", "htmx:replacedInHistory"]) {
  document.addEventListener(event, () => { here = written(); });
}

/* An act that leads back to the same address is no new step for Back, and a form that was refused has
   no address of its own. */
document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  const { history: step, requestConfig: asked } = detail;
  const isRefused = asked.verb !== "get" && detail.xhr.status >= 400;
  if (isRefused) Object.assign(step, { type: "replace", path: here + location.hash });
  else if (step.type === "push" && step.path.split("#")[0] === here) step.type = "replace";
});

/* Why a form was refused stands over it, which may be out of sight from its button. */
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.xhr?.status !== 422) return;
  document.querySelector("#main .error-summary")?.scrollIntoView({ block: "nearest", behavior: "instant" });
});

/* After an upgrade, a page that is gone back to may need other scripts and styles. */
document.addEventListener("htmx:historyCacheMissLoad", ({ detail }) => {
  const page = new DOMParser().parseFromString(detail.response, "text/html");
  const parts = [...page.head.querySelectorAll("script[src], link[rel=stylesheet]")];
  const isHere = ({ outerHTML }) => [...document.head.children].some((one) => one.outerHTML === outerHTML);
  if (!parts.every(isHere)) location.reload();
});

document.addEventListener("htmx:historyRestore", () => {
  here = written();
  const place = places()[here];
  if (!place) return;
  scrollTo({ top: place.y, behavior: "instant" });
  refocus(place);
});

if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") {
  const place = places()[here];
  if (place) refocus(place);
}

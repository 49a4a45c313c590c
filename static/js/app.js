/* What the browser adds to pages that already work without it: themes, keys, copy buttons, fresh
   times. Listeners sit on the document, so swapped parts need no set-up of their own. What the
   server answers is the business of responses.js, and where somebody was of focus.js. */

const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const seen = (element) => element.getClientRects().length > 0;

/* A form with data-waits is sent once at a time. Its button pressed last meanwhile is pressed again
   when the answer is there, so that what was meant last holds. */

let pressedMeanwhile = null;

document.addEventListener("click", (event) => {
  const form = event.target.closest("button[id]")?.form;
  if (!form?.matches("[data-waits].htmx-request")) return;
  pressedMeanwhile = event.target.closest("button").id;
  event.preventDefault();
}, true);

document.addEventListener("htmx:afterSettle", () => {
  const id = pressedMeanwhile;
  pressedMeanwhile = null;
  if (id) document.getElementById(id)?.click();
});

document.addEventListener("htmx:responseError", () => { pressedMeanwhile = null; });
document.addEventListener("htmx:sendError", () => { pressedMeanwhile = null; });

/* What was swapped in is known to htmx a moment later. What is pressed, chosen or sent before waits for
   that, as it would load a whole page or do nothing. */

const fired = (control, { type }) => control.dispatchEvent(new Event(type, { bubbles: true }));
const EARLY = {
  click: ["a, button", (control) => control.click()],
  input: ["input, select, textarea", fired],
  change: ["input, select, textarea", fired],
  submit: ["form", (form, { submitter }) => form.requestSubmit(submitter)],
};

for (const [type, [control, again]] of Object.entries(EARLY)) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest(control);
    if (!element?.closest(".htmx-added") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.addEventListener("htmx:afterSettle", () => again(element, event), { once: true });
  }, true);
}

/* Clicks: one listener, told apart by data attributes. */

document.addEventListener("click", (event) => {
  const { target } = event;
  for (const menu of all("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
  const button = target.closest("button");
  if (!button) return;
  const { themeChoice, dismiss, opens, copy } = button.dataset;
  if (themeChoice !== undefined) chooseTheme(themeChoice);
  if (dismiss) takeAway(button.closest(dismiss));
  if (opens) open(opens);
  if (copy !== undefined) copyText(button);
});

/* A link (data-like) among texts that htmx leaves alone follows the one of its address beside them, and
   leads to the part it names. */

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-like] a");
  const like = link && all("a[hx-get]").find(({ href }) => href === link.href.split("#")[0]);
  if (!like || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  document.addEventListener("htmx:afterSettle", () => leadTo(link.hash.slice(1)), { once: true });
  like.click();
});

function leadTo(id) {
  const part = document.getElementById(id);
  part.setAttribute("tabindex", "-1");
  part.focus({ preventScroll: true });
  part.scrollIntoView({ behavior: "instant" });
}

/** The focus goes where the reading goes on. */
function takeAway(part) {
  part.remove();
  document.getElementById("main")?.focus({ preventScroll: true });
}

function open(id) {
  for (const menu of all("details.menu[open]")) menu.open = false;
  document.getElementById(id).showModal();
}

/** Copies the text of the element that data-copy selects, or data-copy-text itself. */
async function copyText(button) {
  const source = button.dataset.copy && document.querySelector(button.dataset.copy);
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(source ? source.textContent : button.dataset.copyText);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed here";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

/* A fold opens in both texts, so that they stay level. */

document.addEventListener("toggle", ({ target }) => {
  if (!target.matches(".texts .diff-fold")) return;
  const texts = all(".output", target.closest(".texts")).map((text) => all(".diff-fold", text));
  const own = texts.find((folds) => folds.includes(target));
  const level = texts.filter((folds) => folds.length === own.length);
  for (const folds of level) folds[own.indexOf(target)].open = target.open;
}, true);

/* Theme: kept in a cookie, so that the server renders it and nothing flashes. */

function chooseTheme(theme) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  const age = theme ? 365 * 86_400 : 0;
  document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax${secure}`;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const button of all("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  }
}

/* Times: the server's words, kept fresh; the exact time, in the reader's zone, in the title. */

const exactTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

function refreshTimes() {
  for (const time of all("time[data-ago]")) {
    const when = new Date(time.dateTime);
    time.title = exactTime.format(when);
    const words = ago((Date.now() - when) / 1000);
    if (words && words !== time.textContent) time.textContent = words;
  }
}

/** The words of the server's `ago` filter; "" where it shows the date, which needs no refresh. */
function ago(seconds) {
  const length = Math.abs(seconds);
  const days = Math.floor(length / 86_400);
  if (days >= 14) return "";
  if (length < 60) return "just now";
  const words =
    length < 3600 ? `${Math.floor(length / 60)} min`
    : length < 86_400 ? `${Math.floor(length / 3600)} h`
    : days === 1 ? "1 day"
    : `${days} days`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

document.addEventListener("htmx:afterSettle", refreshTimes);
document.addEventListener("htmx:historyRestore", refreshTimes);
setInterval(refreshTimes, 30_000);
refreshTimes();

/* Keys. Single keys can be switched off in the list of keys (WCAG 2.1.4). */

const keysSwitch = () => document.getElementById("keys-on");
keysSwitch().checked = localStorage.getItem("keys") !== "off";

document.addEventListener("change", ({ target }) => {
  if (target === keysSwitch()) localStorage.setItem("keys", target.checked ? "on" : "off");
  if (target.matches("[data-submits]")) target.form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") leave(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  if (typing || document.querySelector("dialog[open]")) return;
  if (keysSwitch().checked && pressed(event.key)) event.preventDefault();
});

/** Closes the open menu, or leaves a field beside those that have a key, so that single keys work again. */
function leave(target) {
  if (target.matches("[data-key], .question *")) target.blur();
  const menu = document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
}

/** Does what the key stands for on this page; says whether it stood for anything. */
function pressed(key) {
  if (document.querySelector(".sequence a.htmx-request")) return true; // meant for a case not yet in sight
  if (key === "?") return open("keys"), true;
  if (key === "j") return moveRow(1) || follow("next");
  if (key === "k") return moveRow(-1) || follow("prev");
  if (key === "ArrowRight") return follow("next");
  if (key === "ArrowLeft") return follow("prev");
  return cycle(key) || use(key);
}

/** Moves the focus along the rows that open something. */
function moveRow(step) {
  const links = all(".row-link").filter(seen);
  if (links.length === 0) return false;
  const row = document.activeElement.closest("tr, li");
  const at = links.findIndex((link) => link === document.activeElement || row?.contains(link));
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  const link = links[Math.min(Math.max(next, 0), links.length - 1)];
  link.focus({ preventScroll: true });
  link.closest("tr, li").scrollIntoView({ block: "nearest" });
  return true;
}

/** Follows the previous or next link of a case's place in its list. */
function follow(rel) {
  const link = document.querySelector(`.sequence a[rel="${rel}"]`);
  link?.click();
  return Boolean(link);
}

/** A group with data-cycle="d": the key picks the choice after the current one. */
function cycle(key) {
  const group = document.querySelector(`[data-cycle="${CSS.escape(key)}"]`);
  const links = group ? all("a", group) : [];
  if (links.length === 0) return false;
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  links[(at + 1) % links.length].click();
  return true;
}

/** An element with data-key="…": a field is focused, anything else is pressed. */
function use(key) {
  const element = all(`[data-key="${CSS.escape(key)}"]`).find(seen);
  if (!element) return false;
  if (element.matches("input, textarea, select")) element.focus();
  else element.click();
  return true;
}

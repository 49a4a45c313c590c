/* Answers that come when the part of the page that they are meant for was swapped by another answer.
   htmx puts them nowhere, and says nothing where they failed. Here what somebody asked for last is
   shown, what was asked for before is not, and what became of an act is said in any case. */

const BY_HAND = /^(click|submit|change|input|search)$/; // and not by itself, as what waits for news does

let count = 0;
const asked = new WeakMap(); // by request: its number, 0 where nobody pressed anything, and the page's address
const shown = new Map(); // by the id of a part: the number of the newest request whose answer it shows

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { elt, target, xhr, requestConfig } = detail;
  const isByHand = BY_HAND.test(requestConfig.triggeringEvent?.type);
  asked.set(xhr, { number: isByHand ? ++count : 0, path: location.pathname });
  elt.addEventListener("htmx:beforeOnLoad", keepStep);
  target.addEventListener("htmx:beforeSwap", putInPlace);
  for (const type of ["htmx:responseError", "htmx:sendError"]) elt.addEventListener(type, passOn);
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  const { id } = detail.target ?? {};
  const number = asked.get(detail.xhr)?.number ?? 0;
  if (id) shown.set(id, Math.max(number, shown.get(id) ?? 0));
});

/** Where somebody went back to holds against everything that was asked for before. */
document.addEventListener("htmx:historyRestore", () => {
  shown.set("main", ++count);
  document.getElementById("main").removeAttribute("aria-busy");
});

const isAct = ({ requestConfig }) => requestConfig.verb !== "get";
const isOld = (detail) => asked.get(detail.xhr).number > 0 && !isNewest(detail);
const isNewest = ({ xhr, target }) =>
  asked.get(xhr).number > Math.max(shown.get("main") ?? 0, shown.get(target.id) ?? 0);

/** A whole page fits where nothing newer is shown, a part only on its page; what an act led to is newer
    than what that page showed before. */
function fits(detail) {
  const isHere = asked.get(detail.xhr).path === location.pathname;
  if (detail.target.id === "main" && isNewest(detail)) return true;
  return isHere && (isNewest(detail) || isAct(detail));
}

/** What htmx knew of a link or a form is gone with it, the step that Back takes, too. */
function keepStep({ currentTarget, detail }) {
  if (!currentTarget.isConnected && detail.boosted && fits(detail)) {
    currentTarget.setAttribute("hx-push-url", "true");
  }
}

function putInPlace(event) {
  const { currentTarget, detail } = event;
  if (currentTarget.isConnected && (isAct(detail) || !isOld(detail))) return;
  if (detail.target.isConnected && detail.target !== currentTarget) return; // the answer has a place of its own
  const place = fits(detail) && document.getElementById(detail.target.id);
  if (place) detail.target = place;
  else if (isAct(detail)) sayOnly(detail);
  else return drop(event);
  if (!passOn(event)) event.preventDefault();
}

function drop(event) {
  event.preventDefault();
  event.stopPropagation();
}

function sayOnly(detail) {
  detail.target = document.getElementById("messages");
  detail.selectOverride = "#messages > .notice";
  detail.swapOverride = "beforeend";
}

/** To those who listen to the whole page, which what is gone from it does not reach. */
function passOn({ currentTarget, type, detail }) {
  if (currentTarget.isConnected || !(isAct(detail) || fits(detail))) return true;
  return document.dispatchEvent(new CustomEvent(type, { detail, cancelable: true }));
}

/* Whoever waits for more than a moment for what they pressed is told so, at the window's upper edge.
   What the page asks for by itself says how far it is in its own place. */

const LONG_MS = 1_000;
const sign = document.body.appendChild(document.createElement("p"));
const begun = new Map(); // by request that somebody waits for: when it was sent
let ticking = 0;

sign.className = "waiting";
sign.setAttribute("aria-live", "polite");

document.addEventListener("htmx:beforeRequest", ({ detail: { xhr, requestConfig } }) => {
  if (!BY_HAND.test(requestConfig.triggeringEvent?.type)) return;
  begun.set(xhr, performance.now());
  xhr.addEventListener("loadend", () => {
    begun.delete(xhr);
    tellWaiting();
  });
  ticking ||= setInterval(tellWaiting, LONG_MS / 2);
});

/** "Working", read out once; for how long, only shown. */
function tellWaiting() {
  const seconds = Math.floor((performance.now() - Math.min(...begun.values())) / LONG_MS);
  if (begun.size === 0) {
    clearInterval(ticking);
    ticking = 0;
    sign.replaceChildren();
  } else if (seconds >= 1) {
    if (!sign.firstChild) sign.append("Working", document.createElement("span"));
    sign.lastChild.setAttribute("aria-hidden", "true");
    sign.lastChild.textContent = seconds > 2 ? `, ${seconds} s so far` : "";
  }
}

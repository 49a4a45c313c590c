/* Whoever waits for more than a moment for what they pressed is told so, at the window's upper edge.
   What the page asks for by itself says how far it is in its own place. */

import { BY_HAND } from "./late.js";

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

/* What comes back from the server, and what to do when nothing does: the CSRF header, busy marks, a
   sentence when a request fails, and the reading out of what changed. A request that
   fails swaps nothing, so what was typed stays where it is. */

const parts = (selector) => [...document.querySelectorAll(selector)];
const meta = (name) => document.querySelector(`meta[name=${name}]`).content;

/* The token changes when somebody signs in anew, in another tab too; the cookie has the present one. */

function token() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? meta("csrf-token");
}

document.addEventListener("submit", ({ target }) => {
  const field = target.elements.namedItem("csrfmiddlewaretoken");
  if (field) field.value = token();
}, true);

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "get") return;
  detail.headers["X-CSRFToken"] = token();
  if ("csrfmiddlewaretoken" in detail.parameters) detail.parameters.csrfmiddlewaretoken = token();
});

/* Busy marks. */

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  detail.target.setAttribute("aria-busy", "true");
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  detail.target.removeAttribute("aria-busy");
  if (detail.successful && !isSignedOut(detail.xhr)) document.getElementById("trouble")?.remove();
});

/* Trouble. Only one sentence of it stands at a time, and goes when a request is answered again. */

const CAUSES = {
  403: "This was refused: your role does not allow it, or the page is out of date. Load it again.",
  404: "What this is about is gone. Load the page again to see what holds.",
  413: "That is more than this site takes at once. Nothing was stored.",
  503: "The site is busy. Nothing was stored. Wait a few seconds, then try again.",
  507: "There is no room left on the site's disk, so nothing was stored. What you typed is still here.",
  429: "These were too many requests. Wait a minute, then do it again.",
};

document.addEventListener("htmx:responseError", ({ detail }) => {
  const { status } = detail.xhr;
  trouble(
    CAUSES[status] ??
      `The site made an error (${status}). It is in the site's log. What you typed is still here.`,
  );
});

document.addEventListener("htmx:sendError", () => {
  trouble("The server cannot be reached. What you typed is still here; do it again in a moment.");
});

/** Whoever is signed out is sent to the sign-in page, which is no part of this one. */
function isSignedOut(xhr) {
  const path = xhr.responseURL && new URL(xhr.responseURL).pathname;
  return path === meta("sign-in") && location.pathname !== path;
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!isSignedOut(detail.xhr)) return;
  detail.shouldSwap = false;
  const link = document.createElement("a");
  link.href = meta("sign-in");
  link.target = "_blank";
  link.textContent = "Sign in in a new tab";
  trouble("You are signed out. What you typed is still here: sign in, then do it again.", link);
});

/** Adds a message, as text, unless it stands there already. */
function trouble(text, link) {
  if (document.querySelector("#trouble p")?.textContent === text) return;
  document.getElementById("trouble")?.remove();
  const notice = document.createElement("div");
  notice.className = "notice notice-error";
  notice.id = "trouble";
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-quiet button-small";
  button.dataset.dismiss = ".notice";
  button.textContent = "Dismiss";
  notice.append(paragraph, ...(link ? [link] : []), button);
  notice.dataset.read = "";
  document.getElementById("messages").append(notice);
}

/* A live region reads out what is put into it, not what it came with. So messages that arrive with
   their page, or with a part of it, are put in again; so is what an element with data-says says, such
   as the number of cases found, once that changes. */

const said = new Map();

function readOut() {
  const fresh = parts("#messages .notice:not([data-read])");
  const undone = parts(".notice[role=status]:not([data-read])");
  for (const notice of [...fresh, ...undone]) notice.dataset.read = "";
  const changed = parts("[data-says]").filter(isNews).map(({ dataset }) => dataset.says);
  const news = [...fresh, ...undone.map((notice) => notice.querySelector("p"))];
  if (news.length + changed.length > 0) setTimeout(() => [...news, ...saying(changed)].forEach(putIn), 150);
}

/** What these say now: the part may have been swapped once more. */
function saying(changed) {
  const now = parts("[data-says]").filter(({ dataset }) => changed.includes(dataset.says));
  return now.flatMap((part) => [...part.childNodes]);
}

function isNews({ dataset: { says }, textContent }) {
  const before = said.get(says);
  said.set(says, textContent);
  return before !== undefined && before !== textContent;
}

function putIn(node) {
  if (node.isConnected && !node.contains(document.activeElement)) node.replaceWith(node);
}

document.addEventListener("htmx:afterSettle", readOut);
document.addEventListener("htmx:historyRestore", readOut);
readOut();

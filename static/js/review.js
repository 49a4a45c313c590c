/* The page on which people review. A key pressed while the next case loads is kept and pressed again
   once that case is there, so that somebody quick loses none. */

const REVIEW_KEYS = ["1", "2", "3", "4", "s", "u"];
const pressedEarly = [];

const onTask = () => document.getElementById("review-task");
const isLoading = () => document.querySelector("#main[aria-busy], #main .htmx-added, #main .htmx-request");

document.addEventListener("keydown", (event) => {
  if (!onTask() || !(isLoading() || pressedEarly.length) || !event.isTrusted) return;
  if (event.ctrlKey || event.metaKey || event.altKey || !REVIEW_KEYS.includes(event.key)) return;
  pressedEarly.push(event.key);
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

/** Presses the oldest kept key; what follows it waits for the case that it leads to. */
function pressKept() {
  if (!onTask()) pressedEarly.length = 0;
  if (pressedEarly.length === 0 || isLoading()) return;
  const key = pressedEarly.shift();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

/* A verdict that was not saved leaves its case in place: keys meant for the next one are dropped. */
function dropKept() {
  pressedEarly.length = 0;
}

document.addEventListener("htmx:afterSettle", () => setTimeout(pressKept));
document.addEventListener("htmx:responseError", dropKept);
document.addEventListener("htmx:sendError", dropKept);
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status >= 400) dropKept();
});
document.addEventListener("invalid", dropKept, true);

/* A question with a condition is asked while an earlier one has the answer that it names. */

function showQuestions() {
  for (const question of document.querySelectorAll("[data-shown-if]")) {
    const { shownIf, shownIs } = question.dataset;
    const fields = [...document.getElementsByName(shownIf)];
    question.disabled = !fields.some((field) => {
      return field.checked && field.value === shownIs && !field.closest("fieldset").disabled;
    });
    question.hidden = question.disabled;
  }
}

document.addEventListener("change", showQuestions);
document.addEventListener("htmx:afterSettle", showQuestions);
showQuestions();

/* On the page of a case the next one follows a verdict only where somebody wants that; the browser
   remembers it. */

const follows = () => document.getElementById("follow-verdict");

function restoreChoice() {
  if (follows()) follows().checked = localStorage.getItem("follow-verdict") === "on";
}

document.addEventListener("change", ({ target }) => {
  if (target === follows()) localStorage.setItem("follow-verdict", target.checked ? "on" : "off");
});

let isVerdictSent = false;

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const button = detail.requestConfig.triggeringEvent?.submitter;
  isVerdictSent = Boolean(button?.matches("#review-form [data-key]"));
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful) isVerdictSent = false;
});

document.addEventListener("htmx:afterSettle", () => {
  restoreChoice();
  if (!isVerdictSent || !follows()?.checked) return;
  isVerdictSent = false;
  setTimeout(() => document.querySelector('.sequence a[rel="next"]')?.click());
});

restoreChoice();

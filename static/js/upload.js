/* A file on its way to the server: how much of it is sent, how long it will take, and a way to stop.
   Without this script the form is a plain one. */

const SHOWN_FROM = 1024 * 1024; // bytes; a smaller file is there before anybody could read
const MEGABYTE = 1024 * 1024;

let began = 0;

const form = () => document.getElementById("new-upload");
const bar = () => document.getElementById("sending");

document.addEventListener("htmx:beforeSend", ({ target }) => {
  if (target === form()) began = performance.now();
});

document.addEventListener("htmx:xhr:progress", ({ target, detail }) => {
  const size = target === form() ? (target.elements.file.files[0]?.size ?? 0) : 0;
  // The answer's own progress is told by the same event; it is shorter than the file.
  if (size >= SHOWN_FROM && detail.total >= size) show(detail.loaded, detail.total);
});

document.addEventListener("htmx:afterRequest", ({ target }) => {
  if (target === form()) bar().hidden = true;
});

/** What the server says of a file it will not take stands in place of the form. */
document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (![400, 408, 413, 507].includes(detail.xhr.status) || target.id !== "main") return;
  detail.shouldSwap = true;
  detail.isError = false;
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("#sending button")) window.htmx.trigger(form(), "htmx:abort");
});

function show(loaded, total) {
  const [sent, left] = bar().querySelectorAll(".progress-line span");
  const progress = bar().querySelector("progress");
  const isSent = loaded >= total;
  bar().hidden = false;
  progress.max = total;
  if (isSent) progress.removeAttribute("value");
  else progress.value = loaded;
  sent.textContent = isSent ? "Sent; the server looks at it" : `${megabytes(loaded)} of ${megabytes(total)} MB sent`;
  left.textContent = isSent ? "" : timeLeft(loaded, total);
}

function megabytes(bytes) {
  return (bytes / MEGABYTE).toFixed(1);
}

function timeLeft(loaded, total) {
  const seconds = (performance.now() - began) / 1000;
  if (seconds < 1 || loaded === 0) return "";
  const rest = Math.ceil((seconds / loaded) * (total - loaded));
  return rest < 60 ? `about ${rest} s left` : `about ${Math.round(rest / 60)} min left`;
}

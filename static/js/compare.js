/* Dots and bars of a comparison's charts lead to their cases. What follows a link inside a picture is no
   business of htmx, so the same link of the table below is followed, which stays on the page. A dot of
   one case leads to another page, that of the case. */

document.addEventListener("click", (event) => {
  const mark = event.target.closest?.(".pair-charts svg a[href^='?']");
  if (!mark || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const href = CSS.escape(mark.getAttribute("href"));
  const link = document.querySelector(`.pair-tables a[href="${href}"]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});

/* A scorer's settings are redrawn by the server when a part is added, moved or removed. What is typed
   while that takes its time is kept: the answer knows only what was sent. */

const valueOf = (field) => (field.type === "checkbox" ? field.checked : field.value);

/** The fields of the settings by name, and by place where several have one name. */
function fields() {
  const found = new Map();
  const typed = "#settings :is(input:not([type=hidden]), select, textarea)";
  for (const field of document.querySelectorAll(typed)) {
    let place = 0;
    while (found.has(`${field.name} ${place}`)) place += 1;
    found.set(`${field.name} ${place}`, field);
  }
  return found;
}

let sent = null;
let typed = [];

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.target.id !== "settings") return;
  sent = new Map([...fields()].map(([name, field]) => [name, valueOf(field)]));
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "settings" || !sent) return;
  const now = [...fields()].map(([name, field]) => [name, valueOf(field)]);
  typed = now.filter(([name, value]) => sent.has(name) && sent.get(name) !== value);
  sent = null;
});

document.addEventListener("htmx:afterSwap", () => {
  const drawn = typed.length > 0 ? fields() : new Map();
  for (const [name, value] of typed) {
    const field = drawn.get(name);
    if (field?.type === "checkbox") field.checked = value;
    else if (field) field.value = value;
  }
  typed = [];
});

// The side of the editor that was typed in last leads; the other one follows.
export function startEditor() {
  const form = document.querySelector("form[data-editor]");
  if (!form) return;
  const side = form.querySelector("[data-side]");
  let typed = 0;
  let sent = 0;
  let unsaved = false;
  form.addEventListener("input", (event) => {
    typed = performance.now();
    unsaved = true;
    side.value = event.target.matches("[data-document]") ? "document" : "form";
  }, true);
  form.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === form) sent = performance.now();
  });
  // An answer that is older than the last key would undo it; a newer one is on its way.
  // That of a test request says nothing of the fields, and comes once.
  form.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.requestConfig.elt === form && typed > sent) event.detail.shouldSwap = false;
  });
  // Whoever saves or cancels means it; a key or a link may be a slip.
  const leave = () => { unsaved = false; };
  form.addEventListener("submit", leave);
  form.querySelector("[data-cancel]").addEventListener("click", leave);
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  // What was typed while the scripts were on their way has been heard by none of them.
  document.addEventListener("DOMContentLoaded", () => {
    const changed = [...form.elements].filter(isChanged);
    const last = changed.includes(document.activeElement) ? document.activeElement : changed.at(-1);
    if (last) last.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

function isChanged(field) {
  if (field.type === "hidden" || !("defaultValue" in field)) return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}

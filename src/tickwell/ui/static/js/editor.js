// The side of the editor that was typed in last leads; the other one follows.
export function startEditor() {
  const form = document.querySelector("form[data-editor]");
  if (!form) return;
  const side = form.querySelector("[data-side]");
  let typed = 0;
  let sent = 0;
  form.addEventListener("input", (event) => {
    typed = performance.now();
    side.value = event.target.matches("[data-document]") ? "document" : "form";
  }, true);
  form.addEventListener("htmx:beforeRequest", () => { sent = performance.now(); });
  // An answer that is older than the last key would undo it; a newer one is on its way.
  form.addEventListener("htmx:beforeSwap", (event) => {
    if (typed > sent) event.detail.shouldSwap = false;
  });
}

// A part that is drawn anew says nothing of what the visitor chose: marks, the current row,
// the bar that acts on the selection. What only the browser knows stays, and so does the field
// that somebody types in: a server that tidied it up would eat the blank before the next word.
const KEPT = ["data-current", "open"];

export function keepChoices() {
  window.Idiomorph.defaults.ignoreActiveValue = true;
  window.Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) => {
    if (KEPT.includes(name)) return false;
    const bulk = element.closest("form[data-bulk]");
    return !(bulk && ["checked", "hidden", "disabled"].includes(name));
  };
}

// A part or a log that asked for itself may have been drawn anew, by an answer that came first, as
// one that asks for nothing more. htmx would then put the late answer inside it, as a second copy.
const ASKS = { changed: "[data-part]", tail: "[data-tail]" };

export function dropLateAnswers() {
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, triggeringEvent } = event.detail.requestConfig;
    const asks = ASKS[triggeringEvent?.type];
    if (asks && !elt.matches(asks)) event.detail.shouldSwap = false;
  });
}

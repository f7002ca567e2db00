// What cannot be undone asks first, and says how many are chosen; what was sent is not sent twice.
const SOON = 10000; // milliseconds in which a second press is a double click, or impatience

export function startForms() {
  let sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    if (isDenied(event) || isRepeated(event, sent)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
  window.addEventListener("pageshow", () => { sent = new WeakMap(); }); // back on it by the button
}

function isDenied({ submitter, target }) {
  const question = submitter?.dataset.ask ?? target.dataset.confirm;
  const all = target.querySelector("[data-matching]:has(:checked)");
  const chosen = (all ?? target.querySelector("[data-count]"))?.textContent.trim();
  return question && !window.confirm(chosen ? `${chosen}: ${question}` : question);
}

function isRepeated({ target, timeStamp }, sent) {
  if (target.method !== "post") return false;
  const last = sent.get(target) ?? -SOON;
  if (timeStamp - last < SOON) return true;
  sent.set(target, timeStamp);
  return false;
}

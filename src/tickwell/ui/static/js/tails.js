// The log of a running attempt asks for more lines twice a second, so that a line is shown within a
// second of being written (workers flush every half second). It follows its end, unless
// the reader has scrolled up or selects something in it.
const INTERVAL = 500;
// Pixels from the end that count as being there.
const NEAR = 32;

const box = (log) => log.querySelector("pre");
const logs = () => [...document.querySelectorAll("[data-tail]")].filter(box);

function follows(log) {
  const { scrollHeight, scrollTop, clientHeight } = box(log);
  const marked = document.getSelection();
  const isMarked = !marked.isCollapsed && log.contains(marked.anchorNode);
  return !isMarked && scrollHeight - scrollTop - clientHeight < NEAR;
}

const toEnd = (log) => { box(log).scrollTop = box(log).scrollHeight; };

export function startTails() {
  let followed = new Set();
  setInterval(() => {
    if (document.hidden) return;
    for (const log of document.querySelectorAll("[data-tail]")) window.htmx.trigger(log, "tail");
  }, INTERVAL);
  const known = new Set(logs().map((log) => log.id));
  logs().forEach(toEnd);
  document.addEventListener("htmx:beforeSwap", () => {
    followed = new Set(logs().filter(follows).map((log) => log.id));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const log of document.querySelectorAll("section.log")) {
      // One that had no line until now has had no reader who could scroll it.
      if (box(log) && (followed.has(log.id) || (log.dataset.tail !== undefined && !known.has(log.id)))) toEnd(log);
      if (box(log)) known.add(log.id);
    }
  });
}

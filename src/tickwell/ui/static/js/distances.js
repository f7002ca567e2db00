// "3 min ago" and "in 1 h 28 min" move on without asking the server.
// A clock that is far from that of the service is not believed: jobs fire by the other one.
const FAR = 5000;
const UNITS = [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]];

export function distance(instant, now) {
  const away = Math.abs(instant - now);
  const first = UNITS.findIndex(([unit]) => away >= unit);
  if (first < 0) return "now";
  const [unit, name] = UNITS[first];
  const text = `${Math.floor(away / unit).toLocaleString("en")} ${name}`;
  return instant > now ? `in ${text}${rest(away % unit, first)}` : `${text} ago`;
}

// People plan by what comes: hours with their minutes, days with their hours.
function rest(away, first) {
  const [unit, name] = UNITS[first + 1] ?? [];
  return first < 2 && away >= unit ? ` ${Math.floor(away / unit)} ${name}` : "";
}

// Whether a fire time that has passed is overdue is for the server to say: here it may only be that
// the page has not been drawn anew yet.
function whenDue(instant, now, isOverdue) {
  if (instant > now) return distance(instant, now);
  return isOverdue ? `overdue for ${distance(instant, now).replace(/ ago$/, "")}` : "now";
}

export function keepDistances() {
  const away = Number(document.body.dataset.now) - Date.now();
  const step = () => {
    const now = Date.now() + (Math.abs(away) > FAR ? away : 0);
    for (const each of document.querySelectorAll("[data-ago]")) {
      const text = distance(Number(each.dataset.ago), now);
      if (each.textContent !== text) each.textContent = text;
    }
    for (const each of document.querySelectorAll("[data-due]")) {
      const due = Number(each.dataset.due);
      const text = whenDue(due, now, each.classList.contains("overdue"));
      if (each.textContent !== text) each.textContent = text;
    }
  };
  setInterval(() => { if (!document.hidden) step(); }, 1000);
  document.addEventListener("htmx:afterSwap", step);
}

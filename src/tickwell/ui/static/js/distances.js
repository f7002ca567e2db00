// "3 min ago" and "in 20 s" move on without asking the server.
const UNITS = [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]];

export function distance(instant, now) {
  const away = Math.abs(instant - now);
  for (const [unit, name] of UNITS) {
    if (away >= unit) {
      const text = `${Math.floor(away / unit).toLocaleString("en")} ${name}`;
      return instant > now ? `in ${text}` : `${text} ago`;
    }
  }
  return "now";
}

export function keepDistances() {
  const step = () => {
    const now = Date.now();
    for (const each of document.querySelectorAll("[data-ago]")) {
      const text = distance(Number(each.dataset.ago), now);
      if (each.textContent !== text) each.textContent = text;
    }
  };
  setInterval(() => { if (!document.hidden) step(); }, 1000);
  document.addEventListener("htmx:afterSwap", step);
}

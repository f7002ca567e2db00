// How long an attempt has been running moves on without asking the server.
const FAR = 5000;
const UNITS = [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]];

export function elapsed(millis) {
  const first = Math.max(UNITS.findIndex(([unit]) => millis >= unit), 0);
  if (millis < 1000) return "0 s";
  const [unit, name] = UNITS[first];
  const [lesser, lesserName] = UNITS[first + 1] ?? [];
  const rest = lesser ? Math.floor((millis % unit) / lesser) : 0;
  return `${Math.floor(millis / unit).toLocaleString("en")} ${name}${rest ? ` ${rest} ${lesserName}` : ""}`;
}

export function keepElapsed() {
  const away = Number(document.body.dataset.now) - Date.now();
  const step = () => {
    const now = Date.now() + (Math.abs(away) > FAR ? away : 0);
    for (const each of document.querySelectorAll("[data-since]")) {
      const text = elapsed(Math.max(now - Number(each.dataset.since), 0));
      if (each.textContent !== text) each.textContent = text;
    }
  };
  setInterval(() => { if (!document.hidden) step(); }, 1000);
  document.addEventListener("htmx:afterSwap", step);
}

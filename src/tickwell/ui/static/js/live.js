// The stream says that something changed; the parts of the page that can, ask for themselves anew.
// A hidden tab lets go of it. A page whose parts could not be loaded for a while, because the
// stream, the server or its store does not answer, says since when it is stale; so does one whose
// session has ended.
import { at } from "./root.js";

// Milliseconds. The stream speaks at least every 5 s, so that a part is loaded as often.
const STALE = 10000;
// A load that hangs is given up, so that the next one can succeed.
const PATIENCE = 8000;

export function startLive() {
  const sign = document.querySelector("[data-live]");
  if (!sign || !document.querySelector("[data-part]")) return;
  let source = null;
  let again = 0;
  let isOver = false;
  // When the page was last known to be true.
  let fresh = Date.now();
  // The first stream tells what happened between the making of the page and its opening.
  let made = `?heard=${document.body.dataset.heard}`;

  const refresh = () => {
    for (const part of document.querySelectorAll("[data-part]")) window.htmx.trigger(part, "changed");
  };
  const show = (text) => {
    sign.textContent = text;
    sign.hidden = false;
  };
  const lost = () => {
    if (isOver || document.hidden) return;
    const since = new Date(fresh).toLocaleTimeString("en", { hourCycle: "h23" });
    show(`Stale since ${since}: the server or its store does not answer. What you see may be outdated; this page reconnects automatically.`);
  };
  const connect = () => {
    source = new EventSource(at("/live" + made));
    made = "";
    source.addEventListener("open", () => { if (!sign.hidden) refresh(); });
    source.addEventListener("changed", refresh);
    source.addEventListener("error", () => {
      lost();
      if (source.readyState !== EventSource.CLOSED) return;
      // A browser gives up after a refusal, such as that of a server which is starting; whether
      // the session has ended is what a part of the page hears.
      again = setTimeout(connect, 3000);
      refresh();
    });
  };
  const letGo = () => {
    clearTimeout(again);
    source?.close();
  };
  const isPart = (event) => event.detail.elt.hasAttribute("data-part");

  document.addEventListener("htmx:configRequest", (event) => {
    if (isPart(event)) event.detail.timeout = PATIENCE;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isPart(event) || !event.detail.successful || isOver) return;
    fresh = Date.now();
    if (source?.readyState === EventSource.OPEN) sign.hidden = true;
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status !== 401) return;
    isOver = true;
    letGo();
    show("Logged out. Reload this page.");
  });
  document.addEventListener("visibilitychange", () => {
    letGo();
    if (document.hidden) return;
    fresh = Date.now();
    isOver = false;
    refresh();
    connect();
  });
  setInterval(() => { if (Date.now() - fresh > STALE) lost(); }, 1000);
  if (!document.hidden) connect();
}

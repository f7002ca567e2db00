// The stream says that something changed; the parts of the page that can, ask for themselves anew.
// A hidden tab lets go of it; a page that lost it says since when it is stale, or that the session
// has ended.
import { at } from "./root.js";

export function startLive() {
  const sign = document.querySelector("[data-live]");
  if (!sign || !document.querySelector("[data-part]")) return;
  let source = null;
  let since = null;
  let again = 0;
  // The first stream tells what happened between the making of the page and its opening.
  let made = `?heard=${document.body.dataset.heard}`;

  const refresh = () => {
    for (const part of document.querySelectorAll("[data-part]")) window.htmx.trigger(part, "changed");
  };
  const lost = () => {
    since ??= new Date();
    sign.textContent = `Stale since ${since.toLocaleTimeString()}`;
    sign.hidden = false;
  };
  const found = () => {
    if (since) refresh();
    since = null;
    sign.hidden = true;
  };
  const connect = () => {
    source = new EventSource(at("/live" + made));
    made = "";
    source.addEventListener("open", found);
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

  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status !== 401) return;
    letGo();
    sign.textContent = "Logged out: load this page again";
    sign.hidden = false;
  });
  document.addEventListener("visibilitychange", () => {
    letGo();
    if (document.hidden) return;
    refresh();
    connect();
  });
  if (!document.hidden) connect();
}

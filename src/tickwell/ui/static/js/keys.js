// Shortcuts, silent while somebody types.
import { at } from "./root.js";

const PLACES = { o: "/", t: "/timeline", c: "/calendar", j: "/jobs", e: "/executions", d: "/dead", i: "/monitors", a: "/alerts", m: "/charts", w: "/workers", s: "/settings", r: "/docs" };

export function startKeys({ palette }) {
  let going = false;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      palette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (going) {
      going = false;
      if (PLACES[event.key]) location.assign(at(PLACES[event.key]));
      return;
    }
    if (event.key === "g") {
      going = true;
      setTimeout(() => { going = false; }, 1500);
    } else if (event.key === "/") {
      event.preventDefault();
      (document.querySelector("[data-filter]") ?? document.querySelector("[data-search]")).focus();
    } else if (event.key === "?") {
      document.querySelector("[data-help]").showModal();
    } else if (event.key === "n" && "edits" in document.body.dataset) {
      location.assign(at("/jobs/new"));
    } else if (event.key === "j" || event.key === "k") {
      moveRow(event.key === "j" ? 1 : -1);
    } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
      document.querySelector("tr[data-current] a")?.click();
    } else if (event.key === "x") {
      document.querySelector("tr[data-current] input[type=checkbox]")?.click();
    }
  });
}

function isTyping(target) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
    && !["checkbox", "radio", "button"].includes(target.type);
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("main tbody tr[data-row]")];
  if (!rows.length) return;
  const row = rows.findIndex((row) => row.hasAttribute("data-current"));
  const next = Math.min(Math.max(row + step, 0), rows.length - 1);
  rows[row]?.removeAttribute("data-current");
  rows[next].setAttribute("data-current", "");
  rows[next].scrollIntoView({ block: "nearest" });
}

// What every page does: shortcuts, palette, distances in time, the live stream, small manners.
import { keepDistances } from "./distances.js";
import { keepElapsed } from "./elapsed.js";
import { openPalette, startPalette } from "./palette.js";
import { copyCode } from "./copy.js";
import { startEditor } from "./editor.js";
import { startForms } from "./forms.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { dropLateAnswers, keepChoices } from "./morphs.js";
import { startReference } from "./reference.js";
import { startTables } from "./tables.js";
import { startTails } from "./tails.js";
import { fade, toast } from "./toasts.js";

rememberZone();
keepDistances();
keepElapsed();
keepChoices();
dropLateAnswers();
startPalette();
startKeys({ palette: openPalette });
startLive();
startTables();
startTails();
startEditor();
startForms();
startReference();
showNow();

// The server writes times on the visitor's clock, once it knows which one that is.
function rememberZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = document.cookie.split("; ").includes(`zone=${zone}`);
  if (!zone || known) return;
  document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
}

// A picture that is wider than the screen opens where now is, a little left of the middle.
function showNow() {
  for (const now of document.querySelectorAll(".scroll [data-now]")) {
    const box = now.closest(".scroll");
    const names = box.querySelector(".names").getBoundingClientRect();
    const room = box.getBoundingClientRect().right - names.right;
    box.scrollLeft = now.getBoundingClientRect().left - names.right - 0.4 * room;
  }
}

document.addEventListener("click", (event) => {
  const menu = event.target.closest("[data-menu]");
  if (menu) {
    const open = document.getElementById("nav").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  }
  const opener = event.target.closest("[data-open]");
  if (opener) {
    event.preventDefault(); // without scripts its address opens it
    document.getElementById(opener.dataset.open).showModal();
  }
  if (event.target.closest("[data-close]")) {
    event.preventDefault();
    event.target.closest("dialog").close();
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) copyCode(copy.parentElement.querySelector("code"));
});

// An address may lead to a dialog: without scripts it is open by that alone, and stays so.
const wanted = document.getElementById(location.hash.slice(1));
if (wanted?.matches("dialog")) {
  wanted.addEventListener("close", () => location.replace("#main"), { once: true });
  wanted.showModal();
}

// The page says what the change before it did, for a while.
fade(document.querySelector("[data-toast]"));

document.addEventListener("htmx:responseError", (event) => {
  if (event.target.closest("[data-part]")) return; // nobody asked; it asks again by itself
  const ended = event.detail.xhr.status === 401;
  toast(ended
    ? "You are logged out. Copy your input before you reload this page."
    : "Request failed. Reload the page and try again.", "bad");
});
document.addEventListener("htmx:sendError", (event) => {
  if (event.target.closest("[data-part]")) return; // the stream says since when
  toast("The service does not answer. Your input is still here.", "bad");
});

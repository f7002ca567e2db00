// Ctrl-K: pages, and jobs by name as one types.
import { at } from "./root.js";

let dialog, input, list, pages, waiting;

export function startPalette() {
  dialog = document.querySelector("[data-palette-dialog]");
  if (!dialog) return;
  input = dialog.querySelector("input");
  list = dialog.querySelector("ul");
  pages = [...list.children];
  document.querySelector("[data-palette]")?.addEventListener("click", openPalette);
  input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  input.addEventListener("keydown", onKey);
}

export function openPalette() {
  if (!dialog || dialog.open) return;
  input.value = "";
  show(pages);
  dialog.showModal();
}

async function search() {
  const text = input.value.trim().toLowerCase();
  const found = pages.filter((item) => item.textContent.toLowerCase().includes(text));
  show(found);
  if (text.length < 2) return;
  const answer = await fetch(at(`/jobs/names?q=${encodeURIComponent(text)}`));
  if (!answer.ok || input.value.trim().toLowerCase() !== text) return;
  const names = await answer.json();
  show([...found, ...names.map(jobItem)]);
}

function jobItem({ id, name }) {
  const item = document.createElement("li");
  item.setAttribute("role", "option");
  item.id = `job-${id}`;
  const link = document.createElement("a");
  link.href = at(`/jobs/${id}`);
  link.tabIndex = -1;
  link.textContent = name;
  item.append(link);
  return item;
}

function show(items) {
  list.replaceChildren(...items);
  select(items[0]);
}

function select(item) {
  for (const each of list.children) each.setAttribute("aria-selected", String(each === item));
  if (item) input.setAttribute("aria-activedescendant", item.id);
  item?.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  const items = [...list.children];
  const chosen = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    select(items[(chosen + step + items.length) % items.length]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    items[chosen]?.querySelector("a").click();
  } else if (event.key === "Escape") {
    // A search field takes the first press to empty itself, and the dialog would stay.
    event.preventDefault();
    dialog.close();
  }
}

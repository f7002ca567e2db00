// The API reference: its search, and requests from its forms.
import { at } from "./root.js";

const PATIENCE = 30000; // milliseconds that a form waits for an answer

export function startReference() {
  const filter = document.querySelector("[data-reference-filter]");
  if (!filter) return;
  filter.addEventListener("input", () => search(filter.value));
  search(filter.value); // browsers fill it in again after a reload
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-reference-try]")) return;
    event.preventDefault();
    send(event.target);
  });
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const topic of document.querySelectorAll("[data-reference-topic]")) {
    let inTopic = 0;
    for (const entry of topic.querySelectorAll("[data-reference-entry]")) {
      entry.hidden = !words.every((word) => entry.dataset.referenceEntry.includes(word));
      if (!entry.hidden) inTopic += 1;
    }
    topic.hidden = inTopic === 0;
    found += inTopic;
  }
  const count = document.querySelector("[data-reference-count]");
  count.textContent = words.length ? `${found} found` : "";
}

async function send(form) {
  const button = form.querySelector("button:not([data-copy])");
  button.disabled = true;
  try {
    const answer = await fetch(addressOf(form), requestOf(form));
    show(form, `${answer.status} ${answer.statusText}`, pretty(await answer.text()));
  } catch (error) {
    const late = error.name === "TimeoutError";
    show(form, late ? "No answer for 30 s." : "The service does not answer.", "");
  } finally {
    button.disabled = false;
  }
}

function filled(form, location) {
  return [...form.querySelectorAll(`[data-in="${location}"]`)].filter((input) => input.value !== "");
}

function addressOf(form) {
  let path = form.dataset.path;
  for (const { name, value } of filled(form, "path")) {
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams(filled(form, "query").map(({ name, value }) => [name, value]));
  return at(path) + (query.size ? `?${query}` : "");
}

function requestOf(form) {
  const key = document.querySelector("[data-reference-key]");
  const headers = Object.fromEntries(filled(form, "header").map(({ name, value }) => [name, value]));
  if (key.value) headers.authorization = `Bearer ${key.value.trim()}`;
  else if (key.dataset.project) {
    Object.assign(headers, JSON.parse(document.body.getAttribute("hx-headers")));
    headers["x-tickwell-project"] = key.dataset.project;
  }
  const body = form.elements.namedItem("body")?.value || undefined;
  if (body !== undefined) headers["content-type"] = form.dataset.type;
  const signal = AbortSignal.timeout(PATIENCE);
  return { method: form.dataset.referenceTry, headers, body, signal };
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function show(form, status, text) {
  const answer = form.querySelector("[data-reference-answer]");
  answer.hidden = false;
  answer.querySelector("p").textContent = status;
  answer.querySelector("code").textContent = text;
  answer.querySelector(".code").hidden = text === "";
}

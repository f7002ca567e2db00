// A sentence at the edge of the page, gone after a while; later if it can be undone.
export function toast(text, tone = "") {
  const box = document.createElement("div");
  box.className = `toast ${tone}`;
  box.textContent = text;
  document.querySelector("[data-toasts]").append(box);
  fade(box);
}

export function fade(box) {
  if (box) setTimeout(() => box.remove(), box.querySelector("button") ? 15000 : 4000);
}

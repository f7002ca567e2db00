// A sentence at the edge of the page, gone after a while.
export function toast(text, tone = "", undo = null) {
  const box = document.createElement("div");
  box.className = `toast ${tone}`;
  const words = document.createElement("span");
  words.textContent = text;
  box.append(words);
  if (undo) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Undo";
    button.addEventListener("click", () => { undo(); box.remove(); });
    box.append(button);
  }
  document.querySelector("[data-toasts]").append(box);
  setTimeout(() => box.remove(), undo ? 10000 : 4000);
}

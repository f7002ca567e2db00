// Selection: a bar appears that says how many are chosen, and acts on them or on all that match.
export function startTables() {
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-bulk]");
    if (!form || event.target.type !== "checkbox") return;
    if (event.target.matches("[data-all]")) {
      for (const box of boxes(form)) box.checked = event.target.checked;
    }
    update(form);
  });
  // Enter on a mark would press the first button of the bar, and pause what is chosen.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("form[data-bulk] input")) event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", updateAll);
  updateAll(); // marks may have been set before this ran
}

function updateAll() {
  for (const form of document.querySelectorAll("form[data-bulk]")) update(form);
}

function boxes(form) {
  return [...form.querySelectorAll("tbody input[type=checkbox]")];
}

function update(form) {
  const all = boxes(form);
  const chosen = all.filter((box) => box.checked).length;
  const bar = form.querySelector("[data-bulk-bar]");
  if (!bar) return;
  bar.hidden = bar.disabled = chosen === 0;
  bar.querySelector("[data-count]").textContent = `${chosen} selected`;
  const matching = bar.querySelector("[data-matching]");
  if (!matching) return;
  matching.hidden = chosen < all.length;
  // What nobody sees must not act: one row without its mark is not all that match.
  if (matching.hidden) matching.querySelector("input").checked = false;
  else tellTotal(matching);
}

// Counting goes through all that match, so it is done when somebody may need it, and once.
const counted = new Map();

async function tellTotal(matching) {
  const address = matching.dataset.matching;
  if (!counted.has(address)) counted.set(address, totalOf(address));
  const total = await counted.get(address);
  if (!total) counted.delete(address); // whoever chooses all once more asks once more
  else if (matching.dataset.matching === address) matching.querySelector("[data-total]").textContent = total;
}

async function totalOf(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) return "";
  const { count, more } = await answer.json();
  return `${more ? "of the first " : ""}${count.toLocaleString("en")}`;
}

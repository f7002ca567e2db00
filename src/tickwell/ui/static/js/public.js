// What a page that is readable without a login does.
import { copyCode } from "./copy.js";
import { startReference } from "./reference.js";

startReference();
document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) copyCode(copy.parentElement.querySelector("code"));
});

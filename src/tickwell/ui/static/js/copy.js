// Browsers lend the clipboard to safe origins only; a service next door often is none.
import { toast } from "./toasts.js";

export async function copyCode(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    toast("Copied");
  } catch {
    getSelection().selectAllChildren(code);
    toast(document.execCommand("copy") ? "Copied" : "Selected; press Ctrl+C to copy");
  }
}

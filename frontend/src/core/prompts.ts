// The library of prompts, as far as it needs no browser.

/** A text with a prompt of the library behind it. */
export function appended(text: string, body: string): string {
  return text.trim() === "" ? body : `${text.trimEnd()}\n\n${body}`;
}

/** An id for a prompt of the person's own, made from its title, that none has yet. */
export function promptId(title: string, taken: readonly string[]): string {
  const base =
    title
      .normalize("NFD")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 50)
      .replace(/-+$/, "") || "prompt";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!taken.includes(id)) return id;
  }
}

/** How a prompt that was sent to one of several tasks fared, in words. */
export function sentWords(sent: { mode: string; wait?: { outcome: string; detail?: string } }): string {
  if (sent.wait?.outcome === "not_delivered") return sent.wait.detail ?? "It did not arrive: look at the terminal";
  return sent.mode === "queued" ? "Queued, it follows when the agent is ready" : "Delivered";
}

/** The longest text that a program may ask to copy, in characters of base64. */
const most = 1 << 20;

/**
 * The text that OSC 52 asks to put on the clipboard ("c;BASE64"). Undefined for what asks for the clipboard's content, which
 * no program is told, for other clipboards than the one there is, and for what is no text.
 */
export function copiedBy(data: string): string | undefined {
  const at = data.indexOf(";");
  const where = data.slice(0, at);
  const payload = data.slice(at + 1);
  if (at < 0 || !/^[cps0-7]*$/.test(where) || payload === "" || payload === "?" || payload.length > most)
    return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes) || undefined;
  } catch {
    return undefined;
  }
}

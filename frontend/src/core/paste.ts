/**
 * Text as it may be pasted into a terminal. Escape and the other control characters are taken out, but for tab and line
 * ends: pasted text must not be able to end the program's paste mode and run the rest as keys.
 */
export function pasteable(text: string): string {
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
    if (!control || char === "\t" || char === "\n" || char === "\r") out += char;
  }
  return out;
}

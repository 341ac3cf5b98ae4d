import { expect, test } from "vitest";
import { plainText } from "../core/plaintext";

const sources = import.meta.glob<string>("./**/*.svelte", { query: "?raw", import: "default", eager: true });
const boxes = /type="(?:checkbox|radio)"/;

/** The opening tags of fields that text is typed into. A ">" in an attribute's code does not end a tag. */
function fields(source: string): string[] {
  const tags = /<(?:input|textarea)\b(?:[^>"'{]|"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*>/g;
  return [...source.matchAll(tags)].map(([tag]) => tag).filter((tag) => !boxes.test(tag));
}

const isPlain = (tag: string) =>
  tag.includes("{...plainText}") ||
  ['autocorrect="off"', 'autocapitalize="off"', 'spellcheck="false"'].every((attribute) => tag.includes(attribute));

test("every field is typed into as it is: nothing puts quotation marks of prose, dashes or capitals there", () => {
  const all = Object.entries(sources).flatMap(([file, source]) => fields(source).map((tag) => ({ file, tag })));
  expect(all.length).toBeGreaterThan(8);
  expect(all.filter(({ tag }) => !isPlain(tag))).toEqual([]);
  expect(plainText).toEqual({ autocomplete: "off", autocorrect: "off", autocapitalize: "off", spellcheck: false });
});

test("no field escapes that look", () => {
  for (const [file, source] of Object.entries(sources)) {
    const starts = [...source.matchAll(/<(?:input|textarea)\b/g)].length;
    const ticked = [...source.matchAll(/<input\b[^>]*?type="(?:checkbox|radio)"/g)].length;
    expect([file, fields(source).length]).toEqual([file, starts - ticked]);
  }
});

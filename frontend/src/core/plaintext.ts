// Commands, paths, hosts and configuration are typed into fields. WebKit on macOS would put “ and ” for ", make a dash of
// two hyphens and a capital of a first letter, unless a field says that it is not prose.

/** The attributes of every field that text is typed into. */
export const plainText = {
  autocomplete: "off",
  autocorrect: "off",
  autocapitalize: "off",
  spellcheck: false,
} as const;

/** Says what is wrong with a host or a path that has quotation marks of prose in it, typed or pasted; else "". */
export function quoteProblem(text: string): string {
  const found = /[“”„‟]/.exec(text)?.[0];
  if (!found) return "";
  return `There is a curly quotation mark (${found}) in it. Leave it out, or type the plain one.`;
}

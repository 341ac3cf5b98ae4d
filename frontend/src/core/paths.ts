/** A stretch of a line of a terminal that looks like a file: its place in characters, and what it names. */
export interface PathLink {
  start: number;
  end: number;
  path: string;
  line?: number;
}

/** A path with a folder in it, or a name with an ending and a line: "src/a.go", "./x", "a.go:12:3". */
const pattern =
  /(?:~|\.{1,2})?(?:\/?[\p{L}\p{N}_@+.-]+\/)+[\p{L}\p{N}_@+.-]+(?::\d+(?::\d+)?)?|[\p{L}\p{N}_@+-][\p{L}\p{N}_@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}:\d+(?::\d+)?/gu;

/** What in a line looks like a file. Addresses of the web are none: they are links of their own. Whether it is there is not known. */
export function pathsIn(text: string): PathLink[] {
  const links: PathLink[] = [];
  for (const found of text.matchAll(pattern)) {
    const start = found.index;
    const before = text.slice(0, start);
    if (/[\p{L}\p{N}]:\/{0,2}$|[\p{L}\p{N}_/@.~-]$/u.test(before)) continue; // within an address, or in the middle of a word
    const [, path = "", line] = /^(.*?)(?::(\d+)(?::\d+)?)?$/u.exec(found[0]) ?? [];
    const bare = path.replace(/\.+$/, ""); // the full stop of a sentence
    if (!bare || bare.startsWith("~")) continue;
    const end = line ? start + found[0].length : start + bare.length;
    links.push({ start, end, path: bare, ...(line ? { line: Number(line) } : {}) });
  }
  return links;
}

import type { ILink, ILinkProvider, Terminal } from "@xterm/xterm";
import { pathsIn } from "../../core/paths";
import { isMac } from "../native";

/**
 * Makes what looks like a file in a terminal something that can be opened. It takes Ctrl (⌘ on a Mac) and a click: a click alone
 * belongs to the program and to selecting. Whether the file is there is seen when it is opened.
 */
export function fileLinks(terminal: Terminal, open: (path: string, line: number | undefined) => void): ILinkProvider {
  return {
    provideLinks(row, answer) {
      const line = terminal.buffer.active.getLine(row - 1)?.translateToString(true) ?? "";
      const links = pathsIn(line).map(
        (found): ILink => ({
          text: line.slice(found.start, found.end),
          range: {
            start: { x: column(terminal, row, found.start) + 1, y: row },
            end: { x: column(terminal, row, found.end), y: row },
          },
          activate: (event) => {
            if (isMac ? event.metaKey : event.ctrlKey) open(found.path, found.line);
          },
        }),
      );
      answer(links.length > 0 ? links : undefined);
    },
  };
}

/** The column of a character of a line: wide characters take two. */
function column(terminal: Terminal, row: number, at: number): number {
  const line = terminal.buffer.active.getLine(row - 1);
  let seen = 0;
  for (let x = 0; line && x < line.length; x++) {
    if (seen >= at) return x;
    seen += line.getCell(x)?.getChars().length || (line.getCell(x)?.getWidth() === 0 ? 0 : 1);
  }
  return line?.length ?? 0;
}

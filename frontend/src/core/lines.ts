/** Cuts a stream of text chunks, which end anywhere, into lines. */
export class LineReader {
  #rest = "";

  push(chunk: string): string[] {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines;
  }
}

/** Set in the kind of a frame whose data the app made smaller; the format is that of app/webface/pack.go. */
export const packed = 0x80;

const shortestMatch = 4;

/**
 * Undoes what the app did to a frame's data: its length of 32 bits, and then LZ4's block format, which is runs of plain bytes
 * and of bytes that stood before. Throws when it is anything else. most bounds the length.
 */
export function unpack(data: Uint8Array, most: number): Uint8Array {
  const size = new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(0);
  if (size > most) throw new Error(`a frame of ${size} bytes`);
  const out = new Uint8Array(size);
  let from = 4;
  let to = 0;
  const length = (short: number): number => {
    if (short < 15) return short;
    let n = short;
    for (;;) {
      const more = byteAt(data, from++);
      n += more;
      if (more !== 255) return n;
    }
  };
  for (;;) {
    const token = byteAt(data, from++);
    const plain = length(token >> 4);
    if (from + plain > data.length || to + plain > size) throw broken();
    // A loop is quicker than a call for the few bytes that stand between two matches.
    if (plain > 32) out.set(data.subarray(from, from + plain), to);
    else for (let i = 0; i < plain; i++) out[to + i] = data[from + i] as number;
    from += plain;
    to += plain;
    if (from === data.length) break;
    const back = byteAt(data, from) | (byteAt(data, from + 1) << 8);
    from += 2;
    const end = to + shortestMatch + length(token & 15);
    if (back === 0 || back > to || end > size) throw broken();
    for (; to < end; to++) out[to] = out[to - back] as number; // a match may reach into itself
  }
  if (to !== size) throw broken();
  return out;
}

function byteAt(data: Uint8Array, at: number): number {
  const byte = data[at];
  if (byte === undefined) throw broken();
  return byte;
}

const broken = () => new Error("a packed frame that cannot be read");

// Asks a window to close as a window manager does when its close button is clicked: by the message WM_DELETE_WINDOW. No
// window manager runs on the display of these tests, so that this speaks a little of the X protocol itself.

import { connect } from "node:net";

const InternAtom = 16;
const QueryTree = 15;
const GetProperty = 20;
const SendEvent = 25;
const ClientMessage = 33;

/** A connection to the X server of DISPLAY, one request at a time. Numbers are little-endian. */
class Display {
  #socket;
  #have = Buffer.alloc(0);
  #wake = () => {};

  static async open() {
    const number = /^:(\d+)/.exec(process.env.DISPLAY)?.[1];
    const display = new Display();
    display.#socket = connect(`/tmp/.X11-unix/X${number}`);
    display.#socket.on("data", (chunk) => {
      display.#have = Buffer.concat([display.#have, chunk]);
      display.#wake();
    });
    await new Promise((resolve, reject) => display.#socket.once("connect", resolve).once("error", reject));
    display.#socket.write(Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])); // version 11, no credentials
    const head = await display.#take(8);
    const rest = await display.#take(4 * head.readUInt16LE(6));
    if (head[0] !== 1) throw new Error(`the display refuses: ${rest.toString("latin1")}`);
    const vendor = rest.readUInt16LE(16);
    const formats = rest[21];
    display.root = rest.readUInt32LE(32 + 4 * Math.ceil(vendor / 4) + 8 * formats); // the first screen's
    return display;
  }

  async #take(bytes) {
    while (this.#have.length < bytes) {
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#have.subarray(0, bytes);
    this.#have = this.#have.subarray(bytes);
    return taken;
  }

  #send(opcode, detail, body) {
    const padded = Buffer.alloc(4 + 4 * Math.ceil(body.length / 4));
    padded[0] = opcode;
    padded[1] = detail;
    padded.writeUInt16LE(padded.length / 4, 2);
    body.copy(padded, 4);
    this.#socket.write(padded);
  }

  /** Sends a request and returns its answer; undefined where the server calls it an error, as of a window that is gone. */
  async #ask(opcode, detail, body) {
    this.#send(opcode, detail, body);
    const head = await this.#take(32);
    if (head[0] !== 1) return undefined;
    return Buffer.concat([head, await this.#take(4 * head.readUInt32LE(4))]);
  }

  async atom(name) {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(name.length, 0);
    return (await this.#ask(InternAtom, 0, Buffer.concat([head, Buffer.from(name)]))).readUInt32LE(8);
  }

  async children(window) {
    const answer = await this.#ask(QueryTree, 0, words(window));
    return answer ? numbers(answer, answer.readUInt16LE(16)) : [];
  }

  /** A property that is a list of numbers of 32 bits; empty where the window has none. */
  async property(window, name) {
    const answer = await this.#ask(GetProperty, 0, words(window, await this.atom(name), 0, 0, 64));
    return answer?.[1] === 32 ? numbers(answer, answer.readUInt32LE(16)) : [];
  }

  /** Sends a window the message that a window manager sends. */
  message(window, type, ...data) {
    const event = Buffer.alloc(32);
    event[0] = ClientMessage;
    event[1] = 32; // bits of each number
    words(window, type, ...data).copy(event, 4);
    this.#send(SendEvent, 0, Buffer.concat([words(window, 0), event]));
  }

  close() {
    this.#socket.end();
  }
}

function words(...list) {
  const body = Buffer.alloc(4 * list.length);
  for (const [i, one] of list.entries()) body.writeUInt32LE(one, 4 * i);
  return body;
}

const numbers = (answer, count) => Array.from({ length: count }, (_, i) => answer.readUInt32LE(32 + 4 * i));

/** Asks the windows of a process to close. Throws when it has none that can be asked. */
export async function askToClose(pid) {
  const display = await Display.open();
  const [protocols, close] = [await display.atom("WM_PROTOCOLS"), await display.atom("WM_DELETE_WINDOW")];
  let asked = 0;
  for (const window of await display.children(display.root)) {
    const [owner] = await display.property(window, "_NET_WM_PID");
    if (owner !== pid || !(await display.property(window, "WM_PROTOCOLS")).includes(close)) continue;
    display.message(window, protocols, close, 0);
    asked++;
  }
  await display.atom("WM_PROTOCOLS"); // an answer means that the server has what was sent before
  display.close();
  if (asked === 0) throw new Error(`process ${pid} has no window that can be closed`);
}

import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import { Disposables, disposable } from "../../core/disposable";
import { type Frame, FrameKind } from "../../core/frames";
import { copiedBy } from "../../core/osc52";
import { pasteable } from "../../core/paste";
import type { WindowSettings } from "../../core/settings";
import type { Exit, Fault } from "../../gen/api";
import { openExternal, readClipboard, writeClipboard } from "../native";
import { composeOnce } from "./composition";
import { Follow } from "./follow";
import { fileLinks } from "./links";
import { Paint } from "./paint";
import { accelerate } from "./renderer";
import { TerminalStream } from "./stream";
import { darkTheme, defaultFont, lightTheme } from "./theme";
import type { Wire } from "./wire";

/** How a terminal's stream stands. "lost" and "ended" can be attached again. */
export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "lost" }
  | { kind: "ended"; reason: string; exit?: Exit; fault?: Fault };

export interface Look {
  settings: WindowSettings;
  light: boolean;
  /** Colours of a theme that the person wrote, over those of the window's own. */
  colors: Record<string, string>;
}

/**
 * Most bytes that the emulator draws at a stretch. It looks at the clock between two pieces only, and keys wait for it: bytes
 * of short lines take it a microsecond each.
 */
const piece = 16 << 10;

/** Longest wait for the font, in milliseconds: a terminal that is measured too early keeps wrong cells. */
const fontPatience = 800;

/**
 * One terminal: xterm.js, what it draws into, and its stream. It lives outside the reactive page, which only mounts its
 * element and listens to `onchange`. Dispose detaches; the program in the terminal goes on.
 */
export class TerminalView {
  readonly element: HTMLDivElement;
  readonly task: string;
  readonly tab: string;
  readonly terminal: Terminal;
  readonly search = new SearchAddon();
  connection: Connection = { kind: "connecting" };
  /** Runs when the connection changed. */
  onchange: () => void = () => {};
  /** Runs when its program wants a text on the clipboard and the person has to say so. */
  oncopy: (text: string) => void = () => {};
  /** Runs when a file that the terminal names is to be opened. */
  onfile: (path: string, line: number | undefined) => void = () => {};

  readonly #wire: Wire;
  readonly #fit = new FitAddon();
  readonly #owned = new Disposables();
  readonly #encoder = new TextEncoder();
  readonly #paint = this.#owned.add(new Paint());
  readonly #follow: Follow;
  #stream: TerminalStream | undefined;
  #muted = false; // the emulator draws the past: its answers to queries must not be typed into the program
  #opened = false;
  #visible = false;
  #revealed = true; // nobody saw what is drawn next from where they had scrolled to
  #copyOnSelect = false;
  #clipboard: WindowSettings["clipboard"] = "ask";

  constructor(wire: Wire, task: string, tab: string, look: Look) {
    this.#wire = wire;
    this.task = task;
    this.tab = tab;
    this.element = document.createElement("div");
    this.element.className = "xterm-host";
    this.terminal = new Terminal({
      allowProposedApi: true, // widths of whole graphemes
      cursorBlink: false, // a blinking cursor wakes the machine twice a second
      cursorInactiveStyle: "outline",
      drawBoldTextInBrightColors: false,
      macOptionIsMeta: false,
      rescaleOverlappingGlyphs: true,
      linkHandler: { activate: (_event, uri) => openExternal(uri) },
      ...this.#options(look),
    });
    this.terminal.loadAddon(this.#fit);
    this.terminal.loadAddon(this.search);
    this.terminal.loadAddon(new UnicodeGraphemesAddon());
    this.terminal.loadAddon(new WebLinksAddon((_event, uri) => openExternal(uri)));
    this.#follow = this.#owned.add(new Follow(this.terminal, (follows) => this.#stream?.following(follows)));
    this.#settings(look);
    this.#listen();
  }

  /** Puts the terminal into the page and attaches it, once it knows its size. */
  async mount(parent: HTMLElement): Promise<void> {
    parent.append(this.element);
    this.#visible = true;
    if (!this.#opened) {
      this.#opened = true;
      await fontReady(this.terminal.options.fontFamily ?? "", this.terminal.options.fontSize ?? 13);
      if (this.#owned.done) return;
      this.terminal.open(this.element);
      this.#paint.open(this.terminal, this.element);
      this.#follow.open(this.element);
      this.#owned.add(accelerate(this.terminal));
      this.fit();
      this.attach();
    }
    this.#show();
    this.fit();
  }

  /** Says whether somebody looks for a text in it. */
  set searching(is: boolean) {
    this.#follow.searching = is;
  }

  /** Takes the terminal out of the page. It gets no more bytes until it is mounted again. */
  unmount(): void {
    this.#visible = false;
    this.element.remove();
    this.#stream?.hide();
  }

  /** Says whether the window itself can be seen. */
  awake(visible: boolean): void {
    if (!this.#visible) return;
    if (visible) this.#show();
    else this.#stream?.hide();
  }

  #show(): void {
    this.#revealed = true;
    this.#stream?.show();
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Joins the terminal's program, or joins it again after the stream was lost or the program was started again. */
  attach(): void {
    this.#stream?.dispose();
    this.#muted = false;
    this.#revealed = true;
    this.terminal.options.disableStdin = false;
    this.#set({ kind: "connecting" });
    const size = { cols: this.terminal.cols, rows: this.terminal.rows };
    const stream = new TerminalStream(this.#wire, this.task, this.tab, size, {
      frame: (frame) => {
        if (this.#stream === stream) this.#take(frame);
      },
      lost: () => {
        if (this.#stream === stream && this.connection.kind !== "ended") this.#set({ kind: "lost" });
      },
    });
    stream.following(this.#follow.follows);
    this.#stream = stream;
  }

  /** Fits the grid to the element. An element without a size is left alone. */
  fit(): void {
    if (!this.#opened || this.element.clientWidth < 20 || this.element.clientHeight < 20) return;
    this.#fit.fit();
  }

  restyle(look: Look): void {
    Object.assign(this.terminal.options, this.#options(look));
    this.#settings(look);
    this.fit();
  }

  async copy(): Promise<void> {
    if (this.terminal.hasSelection()) await writeClipboard(this.terminal.getSelection());
  }

  async paste(): Promise<void> {
    this.terminal.paste(pasteable(await readClipboard()));
  }

  dispose(): void {
    this.onchange = () => {};
    this.#stream?.dispose();
    this.#owned.dispose();
    this.terminal.dispose();
    this.element.remove();
  }

  #options({ settings, light, colors }: Look) {
    return {
      fontFamily: settings.fontFamily ? `"${settings.fontFamily.replaceAll('"', "")}", ${defaultFont}` : defaultFont,
      fontSize: settings.fontSize,
      scrollback: settings.scrollback,
      theme: { ...(light ? lightTheme : darkTheme), ...colors },
      minimumContrastRatio: light ? 3 : 1,
    };
  }

  #settings({ settings }: Look): void {
    this.#copyOnSelect = settings.copyOnSelect;
    this.#clipboard = settings.clipboard;
  }

  /** A program wants a text on the clipboard. What was printed before this terminal was opened asks for nothing any more. */
  #copies(data: string): boolean {
    const text = this.#muted ? undefined : copiedBy(data);
    if (text === undefined || this.#clipboard === "never") return true;
    if (this.#clipboard === "allow") void writeClipboard(text);
    else this.oncopy(text);
    return true;
  }

  #listen(): void {
    const { terminal } = this;
    this.#owned.add(terminal.parser.registerOscHandler(52, (data) => this.#copies(data)));
    this.#owned.add(terminal.registerLinkProvider(fileLinks(terminal, (path, line) => this.onfile(path, line))));
    this.#owned.add(terminal.onData((text) => this.#typed(this.#encoder.encode(text))));
    this.#owned.add(terminal.onBinary((text) => this.#typed(Uint8Array.from(text, (char) => char.charCodeAt(0)))));
    this.#owned.add(terminal.onResize((size) => this.#stream?.resize(size)));
    this.#owned.add(
      terminal.onSelectionChange(() => {
        if (this.#copyOnSelect) void this.copy();
      }),
    );
    // Before xterm.js sees a paste: it would hand control characters on, and with them the end of the paste mode.
    const paste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      terminal.paste(pasteable(event.clipboardData?.getData("text/plain") ?? ""));
    };
    this.element.addEventListener("paste", paste, { capture: true });
    this.#owned.add(disposable(() => this.element.removeEventListener("paste", paste, { capture: true })));
    this.#owned.add(composeOnce(this.element));
    const resized = new ResizeObserver(() => this.fit());
    resized.observe(this.element);
    this.#owned.add(disposable(() => resized.disconnect()));
  }

  #typed(bytes: Uint8Array): void {
    if (this.#muted) return;
    this.#paint.touched();
    this.#stream?.write(bytes);
  }

  #set(connection: Connection): void {
    this.connection = connection;
    this.onchange();
  }

  #take(frame: Frame): void {
    switch (frame.kind) {
      case FrameKind.hello:
        this.#stream?.joined();
        this.#set({ kind: "live" });
        return;
      case FrameKind.snapshot:
        this.#past(frame, true);
        return;
      case FrameKind.replay:
        this.#past(frame, false);
        return;
      case FrameKind.output: {
        const stream = this.#stream;
        this.#paint.printed(frame.data.length);
        let at = 0;
        for (; frame.data.length - at > piece; at += piece) this.terminal.write(frame.data.subarray(at, at + piece));
        this.terminal.write(frame.data.subarray(at), () => stream?.drawn(frame.seq));
        return;
      }
      case FrameKind.resize:
        this.#resized(frame);
        return;
      case FrameKind.end:
        this.#stream?.ended();
        this.#ended(json(frame) as { reason: string; exit?: Exit; error?: Fault });
        return;
    }
  }

  /**
   * Draws what was printed before. Only after the first, empty write was handled does the emulator reach these bytes, so
   * the two callbacks enclose exactly the answers that must not be sent.
   */
  #past(frame: Frame, fresh: boolean): void {
    const { terminal } = this;
    const stream = this.#stream;
    let above = 0; // lines between what somebody has scrolled to and the end
    this.terminal.write("", () => {
      this.#muted = true;
      const { active } = terminal.buffer;
      if (fresh && !this.#revealed) above = active.baseY - active.viewportY;
    });
    this.terminal.write(frame.data, () => {
      this.#muted = false;
      this.#revealed = false;
      if (above > 0) terminal.scrollLines(-above);
      if (!fresh) {
        stream?.drawn(frame.seq);
        return;
      }
      stream?.restart(frame.seq);
      this.#paint.show();
      this.#paint.next(() => stream?.ack()); // in a flood that brings the next one
    });
  }

  /** Follows a size that somebody else gave the terminal; what we asked for ourselves comes back equal. */
  #resized(frame: Frame): void {
    const view = new DataView(frame.data.buffer, frame.data.byteOffset, frame.data.byteLength);
    const cols = view.getUint16(0);
    const rows = view.getUint16(2);
    const { terminal } = this;
    if (cols === terminal.cols && rows === terminal.rows) return;
    if (this.#stream?.resizing) return;
    this.terminal.write("", () => {
      this.#stream?.follow({ cols, rows });
      terminal.resize(cols, rows);
    });
  }

  #ended(end: { reason: string; exit?: Exit; error?: Fault }): void {
    // What the program printed last is drawn before the page says that it ended.
    this.terminal.write("", () => {
      this.#set({
        kind: "ended",
        reason: end.reason,
        ...(end.exit ? { exit: end.exit } : {}),
        ...(end.error ? { fault: end.error } : {}),
      });
    });
  }
}

function json(frame: Frame): unknown {
  return JSON.parse(new TextDecoder().decode(frame.data));
}

/** Waits until the terminal's font can be measured, but not for long. */
async function fontReady(family: string, size: number): Promise<void> {
  const loads = [document.fonts.load(`${size}px ${family}`), document.fonts.load(`bold ${size}px ${family}`)];
  let timer = 0;
  const late = new Promise((resolve) => {
    timer = window.setTimeout(resolve, fontPatience);
  });
  await Promise.race([Promise.allSettled(loads), late]);
  clearTimeout(timer);
}

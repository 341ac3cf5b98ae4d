// What only the real window can do, through the one struct that Wails binds. In a browser (the test bridge) there is no
// such struct, and the browser's own means are used where it has some.

interface Bridge {
  PickDirectory(title: string): Promise<string>;
  PickFiles(title: string): Promise<string[] | null>;
  ClipboardRead(): Promise<string>;
  ClipboardWrite(text: string): Promise<void>;
  OpenExternal(url: string): Promise<void>;
  CloseShown(): Promise<void>;
  DrawsInHardware(): Promise<boolean>;
  Painted(): Promise<void>;
  Shaped(): Promise<void>;
  Looking(looks: boolean): Promise<void>;
  NotificationProblem(): Promise<string>;
  Served(): Promise<boolean>;
  Over(): Promise<boolean>;
  StartAgain(): Promise<void>;
}

declare global {
  interface Window {
    go?: { app?: { Bridge?: Bridge } };
    runtime?: {
      // biome-ignore lint/suspicious/noExplicitAny: what comes with an event is its own
      EventsOn(name: string, run: (...data: any[]) => void): () => void;
      WindowSetTitle(title: string): void;
      Quit(): void;
    };
  }
}

const bridge = (): Bridge | undefined => window.go?.app?.Bridge;

export const isMac = /Mac/.test(navigator.platform);

/** True in the real window: a folder can be picked with the system's dialog. */
export const canPickDirectory = (): boolean => bridge() !== undefined;

/** The folder that the person picked, or "" when they cancelled. */
export async function pickDirectory(title: string): Promise<string> {
  return (await bridge()?.PickDirectory(title)) ?? "";
}

/** The files that the person picked; none when they cancelled. */
export async function pickFiles(title: string): Promise<string[]> {
  return (await bridge()?.PickFiles(title)) ?? [];
}

/** Runs when files were dropped on the window: where, in its pixels, and their paths. */
export function onFilesDropped(run: (x: number, y: number, paths: string[]) => void): () => void {
  return window.runtime?.EventsOn("wails:file-drop", run) ?? (() => {});
}

export async function readClipboard(): Promise<string> {
  return (await bridge()?.ClipboardRead()) ?? navigator.clipboard.readText();
}

export async function writeClipboard(text: string): Promise<void> {
  const native = bridge();
  if (native) await native.ClipboardWrite(text);
  else await navigator.clipboard.writeText(text);
}

/**
 * Whether the window draws on a graphics processor. Undefined in a browser, which tells the name of its renderer itself;
 * the window's web view hides it.
 */
export async function drawsInHardware(): Promise<boolean | undefined> {
  return bridge()?.DrawsInHardware();
}

/** Opens a web page in the person's browser; anything but http and https is ignored. */
export function openExternal(url: string): void {
  if (!/^https?:\/\//i.test(url)) return;
  const native = bridge();
  if (native) void native.OpenExternal(url);
  else window.open(url, "_blank", "noopener,noreferrer");
}

/** Runs when the person closes the window while agents run; says so to the window, which then stays open. */
export function onCloseAsked(ask: () => void): () => void {
  const off = window.runtime?.EventsOn("termic:close", () => {
    ask();
    void bridge()?.CloseShown();
  });
  return off ?? (() => {});
}

/** Whether another process, `termic serve`, runs what the window shows: then closing the window ends nothing. */
export async function served(): Promise<boolean> {
  return (await bridge()?.Served()) ?? false;
}

/** Runs when what `termic serve` showed here has ended, also where that was before the page was loaded. */
export function onOver(run: () => void): () => void {
  void bridge()
    ?.Over()
    .then((over) => over && run());
  return window.runtime?.EventsOn("termic:over", run) ?? (() => {});
}

/** Starts the app again after it has ended, and loads the page anew. Throws a sentence where that fails. */
export async function startAgain(): Promise<void> {
  await bridge()?.StartAgain();
  location.reload();
}

export function closeWindow(): void {
  window.runtime?.Quit();
}

/** Gives the window its title: the system's window does not follow that of the page. */
export function setTitle(title: string): void {
  document.title = title;
  window.runtime?.WindowSetTitle(title);
}

/** Says whether the person looks at the window: while they do, the desktop tells them nothing. Until stopped. */
export function tellLooking(): () => void {
  const tell = () => void bridge()?.Looking(!document.hidden && document.hasFocus());
  const events = [
    [window, "focus"],
    [window, "blur"],
    [document, "visibilitychange"],
  ] as const;
  for (const [target, name] of events) target.addEventListener(name, tell);
  tell();
  return () => {
    for (const [target, name] of events) target.removeEventListener(name, tell);
  };
}

/** Why the desktop takes no notifications, in a sentence; "" while it does. */
export async function notificationProblem(): Promise<string> {
  return (await bridge()?.NotificationProblem()) ?? "";
}

/** Tells the window that something was drawn. */
export function painted(): void {
  void bridge()?.Painted();
}

/** How long a window must keep its size until it is told, in milliseconds. */
const settled = 400;

/**
 * Tells the window when it may have another size or place, which it then has at the next start too. A page hears nothing of
 * being moved; but who moves a window takes the pointer out of the page and back.
 */
export function tellShape(): () => void {
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void bridge()?.Shaped(), settled);
  };
  const page = document.documentElement;
  for (const name of ["resize", "blur"]) window.addEventListener(name, soon);
  for (const name of ["mouseenter", "mouseleave"]) page.addEventListener(name, soon);
  return () => {
    clearTimeout(timer);
    for (const name of ["resize", "blur"]) window.removeEventListener(name, soon);
    for (const name of ["mouseenter", "mouseleave"]) page.removeEventListener(name, soon);
  };
}

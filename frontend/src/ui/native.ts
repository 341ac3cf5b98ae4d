// What only the real window can do, through the one struct that Wails binds. In a browser (the test bridge) there is no
// such struct, and the browser's own means are used where it has some.

interface Bridge {
  PickDirectory(title: string): Promise<string>;
  ClipboardRead(): Promise<string>;
  ClipboardWrite(text: string): Promise<void>;
  OpenExternal(url: string): Promise<void>;
  CloseShown(): Promise<void>;
  DrawsInHardware(): Promise<boolean>;
  Painted(): Promise<void>;
  Shaped(): Promise<void>;
  Looking(looks: boolean): Promise<void>;
  NotificationProblem(): Promise<string>;
}

declare global {
  interface Window {
    go?: { app?: { Bridge?: Bridge } };
    runtime?: { EventsOn(name: string, run: () => void): () => void; WindowSetTitle(title: string): void };
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

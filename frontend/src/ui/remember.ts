// What the person last looked at, kept by the page. Nothing here matters when it is lost.

export function remembered<T extends string | boolean>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(`termic.${key}`);
    const value: unknown = text === null ? fallback : JSON.parse(text);
    return typeof value === typeof fallback ? (value as T) : fallback;
  } catch {
    return fallback;
  }
}

export function remember(key: string, value: string | boolean): void {
  try {
    localStorage.setItem(`termic.${key}`, JSON.stringify(value));
  } catch {
    // A full or forbidden store: the next start looks at something else.
  }
}

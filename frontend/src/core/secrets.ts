import type { Secret, SecretHolder } from "../gen/api";

// Words about secrets. No value ever comes this way.

/** Where the value of a secret is. */
export function keptIn(secret: Secret): string {
  return secret.kept_in === "file" ? "in a file of yours alone" : "in your keyring";
}

/** Whether a text may name a secret; the app refuses some that this lets pass, and says why. */
export function namesSecret(text: string): boolean {
  return /^[A-Z_][A-Z0-9_]{0,63}$/.test(text);
}

/** The terminals that go on with an older value; empty for none. */
export function holdersText(holders: SecretHolder[]): string {
  return holders.map((one) => `${one.task} (${one.tab})`).join(", ");
}

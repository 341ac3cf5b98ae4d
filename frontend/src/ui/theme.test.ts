import { expect, test } from "vitest";
import { weakPairs } from "../core/theme";

const css = Object.values(
  import.meta.glob<string>("./tokens.css", { query: "?raw", import: "default", eager: true }),
).join("");

// The window's own themes hold what is asked of others.
test.each(["dark", "light"])("the window's %s theme can be read", (scheme) => {
  const [dark = "", light = ""] = css.split(':root[data-theme="light"]');
  const of = (part: string) => new Map([...part.matchAll(/--([a-z0-9-]+): (#[0-9a-f]+);/g)].map((m) => [m[1], m[2]]));
  const tokens = new Map([...of(dark), ...(scheme === "light" ? of(light) : [])]);
  expect(tokens.size).toBeGreaterThan(40);
  expect(weakPairs((token) => tokens.get(token) ?? "")).toEqual([]);
});

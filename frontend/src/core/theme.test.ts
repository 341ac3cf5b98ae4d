import { expect, test } from "vitest";
import type { Theme } from "../gen/api";
import { contrast, isLight, parseColor, terminalColors, themeOf } from "./theme";

const night: Theme = {
  id: "custom:night",
  name: "Night",
  scheme: "dark",
  ui: { content: "#000" },
  terminal: { red: "#f00" },
};

test("a setting names a theme, and one that is gone is like the system", () => {
  expect(themeOf("custom:night", [night])).toBe(night);
  expect(themeOf("custom:gone", [night])).toBeUndefined();
  expect(isLight("custom:night", night, true)).toBe(false);
  expect(isLight("custom:gone", undefined, true)).toBe(true);
  expect(isLight("dark", undefined, true)).toBe(false);
  expect(isLight("light", undefined, false)).toBe(true);
});

test("terminals take the theme's surface where it has no background of its own", () => {
  expect(terminalColors(night)).toEqual({ background: "#000", cursorAccent: "#000", red: "#f00" });
  expect(terminalColors({ ...night, terminal: { background: "#123" } }).background).toBe("#123");
  expect(terminalColors(undefined)).toEqual({});
});

test.each([
  ["#fff", [255, 255, 255, 1]],
  ["#1b61b0", [27, 97, 176, 1]],
  ["#0008", [0, 0, 0, 136 / 255]],
  ["red", undefined],
  ["#12345", undefined],
])("%s is the colour %j", (text, color) => {
  expect(parseColor(text)).toEqual(color);
});

test("contrast is that of WCAG", () => {
  expect(contrast("#000", "#fff")).toBeCloseTo(21, 5);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(contrast("#00000000", "#fff")).toBeCloseTo(1, 5);
});

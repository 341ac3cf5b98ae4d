import { expect, test } from "vitest";
import { appended, promptId, sentWords } from "./prompts";

test.each([
  ["", "Go on", "Go on"],
  ["  \n", "Go on", "Go on"],
  ["First this. \n", "Go on", "First this.\n\nGo on"],
])("%j with %j behind it is %j", (text, body, wanted) => {
  expect(appended(text, body)).toBe(wanted);
});

test.each([
  ["Check the docs!", [], "check-the-docs"],
  ["Check the docs", ["check-the-docs", "check-the-docs-2"], "check-the-docs-3"],
  ["Prüfe alles", [], "pru-fe-alles"],
  ["漢字", [], "prompt"],
  ["-- a".repeat(40), [], /^[a-z][a-z-]{1,49}$/],
])("the id of %j beside %j", (title, taken, wanted) => {
  expect(promptId(title, taken)).toMatch(wanted);
  expect(promptId(title, taken)).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
});

test("how a prompt fared is said in words", () => {
  expect(sentWords({ mode: "typed" })).toBe("Delivered");
  expect(sentWords({ mode: "queued" })).toMatch(/^Queued/);
  expect(sentWords({ mode: "typed", wait: { outcome: "not_delivered", detail: "A dialog is open" } })).toBe(
    "A dialog is open",
  );
});

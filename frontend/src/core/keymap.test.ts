import { describe, expect, it, test } from "vitest";
import { Keymap } from "./keymap";
import { actions, type KeyPress, parsed, spelled } from "./keys";

const press = (over: Partial<KeyPress>): KeyPress => ({
  key: "",
  code: "",
  ctrlKey: false,
  altKey: false,
  shiftKey: false,
  metaKey: false,
  ...over,
});
/** The press that a combination is spelled by. */
const presses = (combo: string): KeyPress => {
  const held = combo.split("+").slice(0, -1);
  return press({
    key: combo.split("+").at(-1) ?? "",
    ctrlKey: held.includes("Ctrl"),
    altKey: held.includes("Alt"),
    shiftKey: held.includes("Shift"),
    metaKey: held.includes("Meta"),
  });
};
const plain = new Keymap(false, {});

test.each([
  [press({ key: "N", code: "KeyN", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+N", "newTask"],
  [press({ key: "т", code: "KeyN", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+N", "newTask"],
  [press({ key: "¡", code: "Digit1", altKey: true }), "Alt+1", "tab1"],
  [press({ key: "+", code: "Equal", ctrlKey: true, shiftKey: true }), "Ctrl+=", "bigger"],
  [press({ key: ":", code: "Period", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+.", "stopAgents"],
  [press({ key: "F6", code: "F6", shiftKey: true }), "Shift+F6", "prevRegion"],
  [press({ key: "c", code: "KeyC", ctrlKey: true }), "Ctrl+C", undefined],
  [press({ key: "a", code: "KeyA" }), "A", undefined],
])("%j is %s", (given, name, action) => {
  expect(spelled(given)).toBe(name);
  expect(plain.actionOf(given)).toBe(action);
});

describe.each([true, false])("the table, on a Mac: %s", (isMac) => {
  const own = new Keymap(isMac, {});
  const combos = actions.map((row) => [row, isMac ? row.mac : row.elsewhere] as const).filter(([, combo]) => combo);

  it("has each name and each combination once, in the spelling that a press has", () => {
    expect(new Set(actions.map((row) => row.name)).size).toBe(actions.length);
    expect(new Set(combos.map(([, combo]) => combo)).size).toBe(combos.length);
    for (const [row, combo] of combos) {
      expect(parsed(combo)).toBe(combo);
      expect(own.actionOf(presses(combo))).toBe(row.name);
    }
  });

  it("takes nothing that it would refuse a person", () => {
    for (const [row, combo] of combos) expect(own.refusal(row.name, combo)).toBe("");
    expect(own.problems).toEqual([]);
  });
});

test("shortcuts are written as each system writes them", () => {
  expect(plain.label("newTask")).toBe("Ctrl+Shift+N");
  expect(plain.label("prevTask")).toBe("Ctrl+Shift+PageUp");
  expect(new Keymap(true, {}).label("newTask")).toBe("⌘N");
  expect(new Keymap(true, {}).label("copy")).toBe("");
  expect(new Keymap(true, {}).hint("Copy", "copy")).toBe("Copy");
});

test.each([
  ["ctrl + shift + y", "Ctrl+Shift+Y"],
  ["shift+CTRL+y", "Ctrl+Shift+Y"],
  ["cmd+option+Up", "Alt+Meta+ArrowUp"],
  ["Ctrl++", "Ctrl+="],
  ["f6", "F6"],
  ["ctrl+pageup", "Ctrl+PageUp"],
  ["ctrl+", undefined],
  ["hyper+y", undefined],
  ["ctrl+yy", undefined],
  ["", undefined],
])("%j is written %j", (text, wanted) => {
  expect(parsed(text)).toBe(wanted);
});

describe("what belongs to the terminal or the system is refused", () => {
  const letters = Array.from({ length: 26 }, (_, i) => `Ctrl+${String.fromCharCode(65 + i)}`);
  it.each([
    ...letters,
    ...["A", "Shift+A", "Enter", "Shift+Enter", "Tab", "Shift+Tab", "Escape", "Alt+Escape", "ArrowUp", "Shift+PageUp"],
    ...["Ctrl+[", "Ctrl+\\", "Ctrl+Space", "Ctrl+Enter", "Ctrl+ArrowLeft", "Ctrl+Backspace", "Ctrl+2", "Backspace"],
    ...["Alt+F4", "Meta+L"],
  ])("%s", (combo) => {
    expect(plain.refusal("newTask", combo)).toMatch(/belongs to/);
    const forced = new Keymap(false, { newTask: combo });
    expect(forced.actionOf(presses(combo))).toBeUndefined();
    expect(forced.problems).toHaveLength(1);
    expect(forced.label("newTask")).toBe("Ctrl+Shift+N"); // its own key stays
  });
  it.each(["Alt+B", "Alt+Shift+∂", "Ctrl+C", "Meta+C", "Meta+Q"])("on a Mac %s", (combo) => {
    expect(new Keymap(true, {}).refusal("newTask", combo)).toMatch(/belongs to/);
  });
});

describe("a person's own keys", () => {
  it("are in force in any spelling, and the old one does nothing", () => {
    const map = new Keymap(false, { newTask: "shift+ctrl+y" });
    expect(map.actionOf(presses("Ctrl+Shift+Y"))).toBe("newTask");
    expect(map.actionOf(presses("Ctrl+Shift+N"))).toBeUndefined();
    expect(map.label("newTask")).toBe("Ctrl+Shift+Y");
    expect(map.isChosen("newTask")).toBe(true);
  });

  it("an empty one takes the key away", () => {
    const map = new Keymap(false, { newTask: "" });
    expect(map.actionOf(presses("Ctrl+Shift+N"))).toBeUndefined();
    expect(map.label("newTask")).toBe("");
    expect(map.problems).toEqual([]);
  });

  it("clash in words: with another act's, and with each other", () => {
    expect(plain.refusal("newTask", "Ctrl+Shift+P")).toBe(
      "Ctrl+Shift+P is taken by “Command palette”. Change that one first, or press other keys.",
    );
    expect(plain.refusal("palette", "Ctrl+Shift+P")).toBe("");
    const map = new Keymap(false, { review: "Ctrl+Alt+Y", newTask: "Ctrl+Alt+Y" });
    expect(map.actionOf(presses("Ctrl+Alt+Y"))).toBe("newTask");
    expect(map.problems).toEqual([{ action: "review", text: "Review changes: Ctrl+Alt+Y is taken by “New task”." }]);
  });

  it("written by hand over another act's own key, it wins, and that act has none", () => {
    const map = new Keymap(false, { newTask: "Ctrl+Shift+P" });
    expect(map.actionOf(presses("Ctrl+Shift+P"))).toBe("newTask");
    expect(map.label("palette")).toBe("");
    const row = actions.find((one) => one.name === "palette");
    expect(row && map.resetRefusal(row)).toMatch(/taken by “New task”/);
  });

  it("name what is no act and no combination", () => {
    const map = new Keymap(false, { nothing: "Ctrl+Alt+Y", review: "Hyper+Y" });
    expect(map.problems.map((one) => one.text)).toEqual([
      "There is no action “nothing”.",
      "Review changes: “Hyper+Y” is no combination of keys. Write it like Ctrl+Shift+Y.",
    ]);
    expect(map.label("review")).toBe("Ctrl+Shift+R");
  });
});

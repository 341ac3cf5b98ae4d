import { expect, test } from "vitest";
import { copiedBy } from "./osc52";

const of = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

test("a text is taken, whatever clipboard of the one it is for", () => {
  expect(copiedBy(`c;${of("hallo ünï 🙂")}`)).toBe("hallo ünï 🙂");
  expect(copiedBy(`;${of("x")}`)).toBe("x");
  expect(copiedBy(`p;${of("x")}`)).toBe("x");
});

test.each([
  ["c;?"],
  ["c;"],
  ["c"],
  ["c;%%%"],
  [`c;${btoa("\xff\xfe")}`],
  [`x;${btoa("a")}`],
  [`c;${"A".repeat(2 << 20)}`],
])("%.20s copies nothing", (data) => {
  expect(copiedBy(data)).toBeUndefined();
});

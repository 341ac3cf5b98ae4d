import { expect, test } from "vitest";
import { quoteProblem } from "./plaintext";

test("quotation marks of prose are refused in hosts and paths, plain ones and apostrophes are not", () => {
  for (const text of ["“api.example.com”", "~/src/“lib", "/a/„b‟"]) expect(quoteProblem(text)).toMatch(/curly/);
  for (const text of ["", "api.example.com", `/home/a "b"`, "/home/tom’s files", "~/it's"]) {
    expect(quoteProblem(text)).toBe("");
  }
});

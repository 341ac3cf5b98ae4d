import { describe, expect, it } from "vitest";
import type { Secret } from "../gen/api";
import { holdersText, keptIn, namesSecret } from "./secrets";

const secret = (kept_in: string): Secret => ({ name: "A", kept_in, created: "", updated: "", tasks: [], projects: [] });

describe("secrets", () => {
  it("says where a value is", () => {
    expect(keptIn(secret("file"))).toContain("file");
    expect(keptIn(secret("keyring"))).toContain("keyring");
  });
  it("knows the names of variables", () => {
    for (const good of ["A", "_", "API_KEY", "X9", "A".repeat(64)]) expect(namesSecret(good)).toBe(true);
    for (const bad of ["", "9A", "api_key", "A-B", "A B", "A=B", "A".repeat(65), "Ä"])
      expect(namesSecret(bad)).toBe(false);
  });
  it("names who holds an older value", () => {
    expect(holdersText([])).toBe("");
    expect(
      holdersText([
        { task_id: "1", task: "fix", tab_id: "2", tab: "Claude" },
        { task_id: "3", task: "look", tab_id: "4", tab: "Codex" },
      ]),
    ).toBe("fix (Claude), look (Codex)");
  });
});

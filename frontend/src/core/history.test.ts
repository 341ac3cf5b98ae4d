import { describe, expect, it } from "vitest";
import type { TaskSummary } from "../gen/api";
import { foundIn, projectsOf } from "./history";

const task = (name: string, project: string, branch: string) =>
  ({ name, project, branch, agent: "claude" }) as TaskSummary;
const tasks = [
  task("Rate limits", "api", "feature/rate-limits"),
  task("Usage page", "web", "feature/usage"),
  task("Ünïcode", "api", "fix/names"),
];
const names = (query: string, project = "") => foundIn(tasks, query, project).map((one) => one.name);

describe("the history", () => {
  it("finds each word anywhere, in any case", () => {
    expect(names("")).toHaveLength(3);
    expect(names("  LIMITS rate ")).toEqual(["Rate limits"]);
    expect(names("fix/")).toEqual(["Ünïcode"]);
    expect(names("ÜNÏ")).toEqual(["Ünïcode"]);
    expect(names("claude web")).toEqual(["Usage page"]);
    expect(names("rate web")).toEqual([]);
  });
  it("keeps to a project", () => {
    expect(names("", "api")).toEqual(["Rate limits", "Ünïcode"]);
    expect(names("usage", "api")).toEqual([]);
    expect(projectsOf(tasks)).toEqual(["api", "web"]);
  });
});

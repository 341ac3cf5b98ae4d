import { expect, test } from "vitest";
import { type Scope, tokenChange, tokenReach } from "./tokens";

test("where a token reaches", () => {
  expect(tokenReach({ all_projects: true, projects: [] })).toBe("every project");
  expect(tokenReach({ all_projects: false, projects: ["web", "api"] })).toBe("web, api");
  expect(tokenReach({ all_projects: false, projects: [] })).toMatch(/^no project/);
});

test("only what differs is changed", () => {
  const of = (scope: Scope, ...projects: string[]) => ({ scope, all_projects: projects.length === 0, projects });
  expect(tokenChange(of("readonly"), of("readonly"))).toEqual({});
  expect(tokenChange(of("readonly"), of("operator"))).toEqual({ scope: "operator" });
  expect(tokenChange(of("readonly", "a"), of("readonly"))).toEqual({ allProjects: true });
  expect(tokenChange(of("readonly"), of("readonly", "a"))).toEqual({ projects: ["a"] });
  expect(tokenChange(of("readonly", "a", "b"), of("readonly", "b", "a"))).toEqual({});
  expect(tokenChange(of("readonly", "a"), of("approve", "b"))).toEqual({ scope: "approve", projects: ["b"] });
});

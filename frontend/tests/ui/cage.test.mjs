// The cage in the window: what can be chosen, what is in force, what was refused, and what a repository proposes.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

/** An agent that can be told never to ask. */
const bold = `[[agents]]
id = "bold"
name = "Bold agent"
command = "BIN/fakeagent"
args = ["--manner", "osc7501"]
yolo_args = ["--manner", "osc7501"]
`;

const rig = withRig({ settings: bold });
const step = story(test);

const status = (name) => rig().cli("status", name).task;
const dialog = () => rig().page.getByRole("dialog");
const shield = (name) =>
  rig()
    .row(name)
    .getByRole("img", { name: /^Cage:/ });

/** Waits until something that is asked for again and again holds. */
async function until(what, holds) {
  for (let i = 0; i < 200; i++) {
    if (await holds()) return;
    await rig().page.waitForTimeout(50);
  }
  throw new Error(`it never came to be that ${what}`);
}

/** Asks the proxy that the agent was given for a host, as any program of it would. */
const connect = (host) => {
  const script = [
    'u=$(printf %s "$HTTPS_PROXY" | sed "s|.*://||; s|/$||")',
    'a=$(printf %s "$u" | sed -n "s|@.*||p" | base64 -w0)',
    'p=$(printf %s "$u" | sed "s|.*:||")',
    "exec 3<>/dev/tcp/127.0.0.1/$p",
    `printf "CONNECT ${host}:443 HTTP/1.1\\r\\nHost: ${host}:443\\r\\nProxy-Authorization: Basic $a\\r\\n\\r\\n" >&3`,
    "head -n 1 <&3",
  ];
  return `#run said.txt bash -c '${script.join("; ")}'`;
};

step("the machine's answer is shown: a mode that it cannot enforce is off, with the reason", async () => {
  const { page } = rig();
  rig().cli("project", "add", rig().repo);
  await page.getByRole("treeitem", { name: "Project repo" }).waitFor();
  await page.keyboard.press("Control+Shift+N");
  for (const name of ["Off", "Monitor", "Files only", "Files and network"]) {
    const radio = dialog().getByRole("radio", { name: new RegExp(`^${name} `) });
    if (!(await radio.isDisabled())) continue;
    assert.ok(
      await dialog()
        .getByText(new RegExp(`${name}.*:`))
        .count(),
      `${name} is off without a reason`,
    );
  }
  const enforced = dialog().getByRole("radio", { name: /^Files and network/ });
  assert.equal(
    await enforced.isDisabled(),
    false,
    `the other tests of this file need a machine that can build cages; this one says: ${await dialog().locator(".why").allTextContents()}`,
  );
});

step("a caged task is made by keyboard, and its terminal takes the focus", async () => {
  const { page } = rig();
  await page.keyboard.type("Caged work");
  await dialog().getByRole("radio", { name: /^Off/ }).focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  assert.equal(
    await dialog()
      .getByRole("radio", { name: /^Files and network/ })
      .isChecked(),
    true,
  );
  await dialog().getByRole("checkbox", { name: "Let it drive tasks (MCP)" }).press("Space");
  await dialog().getByRole("checkbox", { name: /^repo/ }).waitFor();
  assert.equal(await dialog().getByRole("checkbox", { name: /^repo/ }).isChecked(), true);
  await dialog().getByRole("checkbox", { name: "Mute agent" }).press("Space");
  await dialog().getByText("The MCP endpoint is off").waitFor();
  await page.keyboard.press("Control+Enter");
  await dialog().waitFor({ state: "detached" });
  await page.locator('[data-connection="live"]').waitFor();
  await until("the terminal has the focus", () =>
    page.evaluate(() => document.activeElement.closest(".xterm") !== null),
  );
  const task = status("Caged work");
  assert.equal(task.sandbox, "enforce");
  assert.equal(task.cage.mcp, true);
  assert.deepEqual(task.cage.agents.toSorted(), ["fake", "mute"]);
});

step("the shield shows what is in force, and the status bar says it", async () => {
  const { page } = rig();
  await shield("Caged work").waitFor();
  assert.equal(await shield("Caged work").getAttribute("aria-label"), "Cage: Files and network");
  await page.getByRole("contentinfo").getByRole("button", { name: "Files and network" }).waitFor();
  await page.getByRole("contentinfo").getByText(/^Port/).waitFor();
});

step("a refused host is listed once, with a count", async () => {
  const { page } = rig();
  await page.getByRole("tab", { name: "Refused" }).click();
  await page.getByText("Nothing was refused yet.").waitFor();
  rig().cli("send", "Caged work", connect("api.example.com"), "--wait");
  rig().cli("send", "Caged work", connect("api.example.com"), "--wait");
  const row = page
    .getByRole("list", { name: "Refused" })
    .getByRole("listitem")
    .filter({ hasText: "api.example.com:443" });
  await row.getByText("2 times").waitFor();
  assert.equal(await row.count(), 1);
  await screen(rig(), "refused");
  await page.getByRole("tab", { name: /^Refused \d/ }).waitFor();
  await page
    .getByRole("contentinfo")
    .getByRole("button", { name: /^\d+ refused$/ })
    .waitFor();
});

step("it is allowed from there; the agent that runs keeps its cage, and that is said", async () => {
  const { page } = rig();
  const row = page
    .getByRole("list", { name: "Refused" })
    .getByRole("listitem")
    .filter({ hasText: "api.example.com:443" });
  await row.getByRole("button", { name: "Allow for task" }).click();
  await row.getByText("Allowed for this task, once Fake agent is started again.").waitFor();
  assert.deepEqual(status("Caged work").cage.hosts, ["api.example.com:443"]);
  await until("the shield tells of the restart", async () =>
    /Restart the agent to apply/.test(await shield("Caged work").getAttribute("aria-label")),
  );
  await rig()
    .row("Caged work")
    .getByText(/restart to apply/)
    .waitFor();
});

step("applying it ends the agent and starts it again, with its conversation", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Restart to apply…" }).click();
  await dialog().getByText("In force: Files and network, as it was started").waitFor();
  await dialog()
    .getByText(/Applying ends 1 terminal/)
    .waitFor();
  await dialog().getByRole("button", { name: "Apply and end 1 terminal" }).click();
  await dialog().waitFor({ state: "detached" });
  await rig().seen(/resumed .* with 2 prompts/);
  await until("the cage in force is what is set", async () =>
    /^Cage: Files and network$/.test(await shield("Caged work").getAttribute("aria-label")),
  );
});

step("the dialog says what is in force and where each line is from", async () => {
  const { page } = rig();
  rig().cli("netgroup", "add", "Office", "203.0.113.0/24");
  await page.getByRole("contentinfo").getByRole("button", { name: "Files and network" }).focus();
  await page.keyboard.press("Enter");
  await dialog().getByText("Enforced since").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.value), "enforce", "the mode has the focus");
  await dialog().getByText("Only what is listed. The rest does not exist inside.").waitFor();
  const files = dialog().getByRole("list", { name: "Files" });
  await files.getByRole("listitem").filter({ hasText: "Built in" }).first().waitFor();
  await files.getByRole("listitem").filter({ hasText: "Worktree" }).waitFor();
  const hosts = dialog().getByRole("list", { name: "Hosts" });
  await hosts.getByRole("listitem").filter({ hasText: "This task" }).getByText("api.example.com:443").waitFor();
  await screen(rig(), "sandbox");
  assert.equal(await dialog().getByRole("button", { name: "Save" }).isDisabled(), true, "nothing was changed");
});

step("a group says which hosts it stands for on this machine", async () => {
  const { page } = rig();
  const add = async (name) => {
    await dialog().getByRole("button", { name: "Add group of hosts" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await add(/^Code forges/);
  await dialog().getByText("codeberg.org").waitFor();
  await add(/^Package registries/);
  await dialog()
    .getByText(/stands for…/)
    .waitFor({ state: "detached" });
  const row = dialog().getByRole("listitem").filter({ hasText: "@registries" });
  const told = await row.locator("xpath=following-sibling::li[1]").textContent();
  assert.match(told, /[a-z]\.[a-z]|was not found|could not/); // hosts, or why there are none
  await add("Public addresses of Office, whatever their name");
  await add("No address of Office, whatever allows it");
  await dialog().getByText("203.0.113.0/24").nth(1).waitFor();
  for (const name of ["@forges", "@registries", "@Office", "!@Office"])
    await dialog()
      .getByRole("button", { name: `Remove ${name}`, exact: true })
      .click();
});

step("a line that cannot be is refused with words, and the text stays; a good one waits to be saved", async () => {
  const { page } = rig();
  await dialog().getByRole("button", { name: "Add path" }).click();
  await page.keyboard.type("not/absolute");
  await page.keyboard.press("Enter");
  await dialog()
    .getByText(/Give an absolute path/)
    .waitFor();
  assert.equal(await dialog().getByRole("textbox", { name: "Path" }).inputValue(), "not/absolute");
  await dialog().getByRole("textbox", { name: "Path" }).fill("/var/log");
  await page.keyboard.press("Enter");
  await dialog().getByRole("listitem").filter({ hasText: "/var/log" }).getByText("new, not saved").waitFor();
  await page.keyboard.press("Escape"); // leaves the field, not the dialog
  await dialog().getByRole("button", { name: "Remove api.example.com:443" }).click();
  await dialog()
    .getByText(/Saving ends 1 terminal/)
    .waitFor();
  await page.keyboard.press("Control+Enter");
  await dialog().waitFor({ state: "detached" });
  const { cage } = status("Caged work");
  assert.deepEqual([cage.read, cage.hosts], [["/var/log"], []]);
  await page.locator('[data-connection="live"]').waitFor();
});

step("a terminal of one's own in a caged tree says so, once", async () => {
  const { page } = rig();
  await rig().shell();
  await page.getByRole("note").filter({ hasText: "This terminal is yours and has no cage." }).waitFor();
  await screen(rig(), "terminal-in-caged-tree");
  await page.getByRole("button", { name: "Hide this note" }).click();
  await page.getByRole("note").waitFor({ state: "detached" });
});

step("a shell inside the cage opens beside it, sees only what the cage does, and has no such note", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "New tab" }).click();
  await page.getByRole("menuitem", { name: "Terminal in the cage" }).click();
  await page.getByRole("tab", { name: "Caged shell" }).and(page.locator("[aria-selected=true]")).waitFor();
  assert.equal(await page.getByRole("note").filter({ hasText: "has no cage" }).count(), 0);
  await page.locator('[data-connection="live"]').waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await rig().type("echo pid=$$ repo=$(ls -A ~ | grep -c repo)");
  await rig().seen(/^pid=\d+ repo=0$/m);
  await page.getByRole("tab", { name: "Caged shell" }).press("Delete");
  await dialog()
    .getByRole("button", { name: /^Close/ })
    .last()
    .click();
  await dialog().waitFor({ state: "detached" });
});

step("saving a mode names every terminal that it ends", async () => {
  const { page } = rig();
  await page
    .getByRole("button", { name: /^Sandbox of this task/ })
    .first()
    .click();
  await dialog()
    .getByRole("radio", { name: /^Monitor/ })
    .check();
  await dialog()
    .getByText(/1 shell/)
    .waitFor();
  await dialog().getByRole("button", { name: "Save and end 2 terminals" }).click();
  await dialog().waitFor({ state: "detached" });
  await until(
    "Monitor is in force",
    async () => (await shield("Caged work").getAttribute("aria-label")) === "Cage: Monitor",
  );
});

step("what is only recorded is listed, and not called refused", async () => {
  const { page } = rig();
  await page.getByRole("tab", { name: /Fake agent/ }).click();
  await page.locator('[data-connection="live"]').waitFor();
  rig().cli("send", "Caged work", connect("recorded.invalid"), "--wait");
  const row = page
    .getByRole("list", { name: "Refused" })
    .getByRole("listitem")
    .filter({ hasText: "recorded.invalid:443" });
  await row.getByText("only recorded").waitFor();
  await page
    .getByRole("contentinfo")
    .getByRole("button", { name: /^\d+ refused$/ })
    .waitFor();
});

step("an agent that never asks, without a cage, has a red shield", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N");
  await page.keyboard.type("Unbound");
  await dialog().getByRole("radio", { name: "Bold agent" }).check();
  await dialog()
    .getByRole("checkbox", { name: /^Let it act without asking/ })
    .check();
  await dialog().getByText("Nothing else would hold it back.").waitFor();
  await page.keyboard.press("Control+Enter");
  await dialog().waitFor({ state: "detached" });
  await until("the shield says so", async () =>
    /never asks/.test((await shield("Unbound").getAttribute("aria-label")) ?? ""),
  );
  assert.match(await shield("Unbound").getAttribute("class"), /\bopen\b/);
});

step("what a repository proposes waits: Not now changes nothing", async () => {
  const { page, repo } = rig();
  writeFileSync(
    path.join(repo, ".termic.yaml"),
    "sandbox:\n  mode: enforce-fs\n  hosts: [hooks.example.com]\nscripts:\n  setup: make everything\n",
  );
  await page.keyboard.press("Control+Shift+N");
  await dialog().getByText("proposes 1 host and the setup script").waitFor();
  await page.keyboard.type("typed before");
  assert.equal(await dialog().getByRole("radio", { name: /^Off/ }).isDisabled(), true, "the file tightens at once");
  await dialog().getByRole("button", { name: "Look at it…" }).click();
  const consent = page.getByRole("dialog", { name: ".termic.yaml of “repo”" });
  await consent.getByText("make everything", { exact: true }).waitFor();
  await consent.getByRole("listitem").filter({ hasText: "hooks.example.com" }).waitFor();
  await screen(rig(), "consent");
  await consent.getByRole("button", { name: /^Not now/ }).click();
  await consent.waitFor({ state: "detached" });
  assert.equal(await dialog().getByLabel("Name").inputValue(), "typed before");
  assert.equal(rig().cli("project", "consent", "repo").repo.state, "waiting");
});

step("accepting is for the content that was shown", async () => {
  const { page, repo } = rig();
  await dialog().getByRole("button", { name: "Look at it…" }).click();
  const consent = page.getByRole("dialog", { name: ".termic.yaml of “repo”" });
  await consent.getByText("make everything", { exact: true }).waitFor();
  writeFileSync(path.join(repo, ".termic.yaml"), "sandbox:\n  hosts: [other.example.com]\n");
  await consent.getByRole("button", { name: "Accept this content" }).click();
  await consent.getByRole("alert").waitFor();
  await consent.getByRole("listitem").filter({ hasText: "other.example.com" }).waitFor();
  assert.equal(rig().cli("project", "consent", "repo").repo.state, "waiting");
  await consent.getByRole("button", { name: "Accept this content" }).click();
  await consent.waitFor({ state: "detached" });
  assert.equal(rig().cli("project", "consent", "repo").repo.state, "agreed");
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
});

step("a project's settings are what its new tasks begin with", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Actions of repo" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Project settings…" }).click();
  await dialog().getByLabel("Sandbox of new tasks").selectOption("own");
  await screen(rig(), "project-settings");
  await dialog()
    .getByRole("radio", { name: /^Files only/ })
    .check();
  await dialog().getByRole("button", { name: "Add host" }).click();
  await page.keyboard.type("https://example.com/");
  await page.keyboard.press("Enter");
  await dialog()
    .getByText(/Give the name of a host/)
    .waitFor();
  await dialog().getByRole("textbox", { name: "Host" }).fill("*.example.com");
  await page.keyboard.press("Enter");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
  const [project] = rig().cli("project", "list").projects;
  assert.deepEqual([project.sandbox, project.cage.hosts], ["enforce-fs", ["*.example.com"]]);
  await page.keyboard.press("Control+Shift+N");
  await dialog().getByText("project default").waitFor();
  assert.equal(
    await dialog()
      .getByRole("radio", { name: /^Files only/ })
      .isChecked(),
    true,
  );
  await page.keyboard.press("Escape");
});

step("a ref that a caged agent moved is shown, and put back", async () => {
  const { page } = rig();
  await rig().task("Strayer", "--sandbox", "enforce");
  rig().cli("send", "Strayer", "#run made.txt git branch aside", "--wait");
  await page.getByRole("button", { name: /^1 ref of repo changed/ }).click();
  const row = dialog().getByRole("listitem").filter({ hasText: "refs/heads/aside" });
  await row.getByText(/while .*Strayer/).waitFor();
  await screen(rig(), "refs");
  assert.match(rig().git(rig().repo, "branch", "--list"), /aside/);
  await row.getByRole("button", { name: "Put back refs/heads/aside" }).click();
  await dialog().getByText("No ref has changed that you have not decided on.").waitFor();
  assert.doesNotMatch(rig().git(rig().repo, "branch", "--list"), /aside/);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^1 ref of repo changed/ }).waitFor({ state: "detached" });
});

step("a more open mode asks first about files that a caged agent wrote and that run by themselves", async () => {
  const { page } = rig();
  rig().cli("send", "Strayer", "#write .envrc export X=1", "--wait");
  await page.getByRole("button", { name: /^Sandbox of this task/ }).click();
  await dialog()
    .getByRole("radio", { name: /^Monitor/ })
    .check();
  const save = dialog().getByRole("button", { name: /^Save/ });
  await save.click();
  await dialog().getByRole("listitem").filter({ hasText: ".envrc" }).getByText("run by shells, added").waitFor();
  await screen(rig(), "accept-files");
  assert.equal(status("Strayer").sandbox, "enforce");
  assert.equal(await save.isDisabled(), true, "without consent nothing is saved");
  await dialog()
    .getByRole("checkbox", { name: /^I have looked at them/ })
    .check();
  await save.click();
  await dialog().waitFor({ state: "detached" });
  assert.equal(status("Strayer").sandbox, "monitor");
  await until("the agent runs again", () => status("Strayer").tabs[0].live);
});

step("in the smallest window nothing of the dialogs is cut off", async () => {
  const { page } = rig();
  await page.setViewportSize({ width: 800, height: 560 });
  for (const open of [
    () => page.keyboard.press("Control+Shift+N"),
    async () => {
      await rig().page.getByRole("button", { name: "Actions of this task" }).click();
      await rig().page.getByRole("menuitem", { name: "Sandbox…" }).click();
    },
  ]) {
    await open();
    await dialog().waitFor();
    const wrong = await page.evaluate(() => {
      const box = document.querySelector("dialog[open]");
      const outer = box.getBoundingClientRect();
      const out = [];
      if (outer.left < 0 || outer.right > innerWidth || outer.top < 0 || outer.bottom > innerHeight)
        out.push("the dialog");
      const scroll = box.querySelector(".body-scroll");
      if (scroll.scrollWidth > scroll.clientWidth) out.push("its middle is wider than itself");
      for (const one of box.querySelectorAll("header *, footer button")) {
        const at = one.getBoundingClientRect();
        if (at.width > 0 && (at.right > outer.right + 0.5 || at.bottom > outer.bottom + 0.5))
          out.push(one.textContent.trim());
      }
      return out;
    });
    assert.deepEqual(wrong, []);
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

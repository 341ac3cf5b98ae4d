// The tabs Checks and Netgroups of the page Operations: what is watched, how it stands, and which addresses have a name.

import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { after, test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({});
const step = story(test);
const operations = () => rig().page.getByRole("main", { name: "Operations" });
const row = (name) => operations().getByRole("listitem").filter({ hasText: name });
const tab = (name) => operations().getByRole("tab", { name }).click();

let well = true;
const site = http.createServer((_, answer) => {
  answer.statusCode = well ? 200 : 503;
  answer.end("all is well");
});
const port = net.createServer((socket) => socket.end());
const listen = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
let at = 0;
let open = 0;
after(() => {
  site.close();
  site.closeAllConnections();
  port.close();
});

step("before anything is watched, the page says what a check is", async () => {
  [at, open] = [await listen(site), await listen(port)];
  await rig().page.getByRole("button", { name: "Operations", exact: true }).click();
  await operations().getByText("Nothing is watched yet.").waitFor();
  await screen(rig(), "operations-checks-none");
});

step("a check is made by its form, whose fields follow the kind", async () => {
  await operations().getByRole("button", { name: "New check" }).click();
  const form = operations().getByRole("form", { name: "New check" });
  await form.getByRole("textbox", { name: "Name" }).fill("site");
  await form.getByRole("combobox", { name: "Kind" }).selectOption("metric");
  await form.getByRole("combobox", { name: "Is up while it is" }).waitFor();
  assert.equal(await form.getByRole("textbox", { name: "Text that the page must hold" }).count(), 0);
  await screen(rig(), "operations-check-new");
  await form.getByRole("combobox", { name: "Kind" }).selectOption("http");
  await form.getByRole("textbox", { name: "Targets" }).fill(`http://127.0.0.1:${at}/`);
  await form.getByRole("textbox", { name: "Text that the page must hold" }).fill("is well");
  await form.getByRole("combobox", { name: "Every" }).selectOption("10000");
  await form.getByRole("button", { name: "Add check" }).click();
  await row("site").getByText("200 OK").first().waitFor();
  await operations().getByText("Nothing is down").waitFor();
});

step("a refusal says which field is wrong, and keeps what was typed", async () => {
  await operations().getByRole("button", { name: "New check" }).click();
  const form = operations().getByRole("form", { name: "New check" });
  await form.getByRole("textbox", { name: "Name" }).fill("database");
  await form.getByRole("combobox", { name: "Kind" }).selectOption("tcp");
  await form.getByRole("textbox", { name: "Targets" }).fill("127.0.0.1");
  await form.getByRole("button", { name: "Add check" }).click();
  await form.getByText("is not a host and a port").waitFor();
  await form.getByRole("textbox", { name: "Targets" }).fill(`127.0.0.1:${open}`);
  await form.getByRole("button", { name: "Add check" }).click();
  await row("database").getByText("takes connections").first().waitFor();
});

step("netgroups name addresses, and the results of checks say them", async () => {
  await tab("Netgroups");
  await operations().getByText("No addresses have a name yet.").waitFor();
  await operations().getByRole("button", { name: "New netgroup" }).click();
  const form = operations().getByRole("form", { name: "New netgroup" });
  await form.getByRole("textbox", { name: "Name" }).fill("here");
  await form.getByRole("textbox", { name: "Addresses and networks" }).fill("127.0.0.0/8\n!127.0.0.9");
  await form.getByRole("textbox", { name: "What it is for" }).fill("this machine");
  await form.getByRole("button", { name: "Add netgroup" }).click();
  await row("this machine").getByText("127.0.0.9", { exact: true }).waitFor();
  await operations().getByRole("button", { name: "New netgroup" }).click();
  await form.getByRole("textbox", { name: "Name" }).fill("office");
  await screen(rig(), "operations-netgroups");
  await form.getByRole("button", { name: "Cancel" }).click();
  await operations().getByRole("button", { name: "Change here" }).click();
  await operations()
    .getByRole("form", { name: "Change here" })
    .getByRole("textbox", { name: "What it is for" })
    .fill("");
  await operations().getByRole("button", { name: "Save netgroup" }).click();
  await row("this machine").waitFor({ state: "detached" });
});

step("what goes down comes first, and an opened check tells of each target; looking now keeps nothing", async () => {
  await tab("Checks");
  well = false;
  await row("site").getByRole("button", { name: /site/ }).click();
  await row("site").getByRole("button", { name: "Look now" }).click();
  await row("site").getByText("Just now").waitFor();
  await row("site").getByText("503 Service Unavailable").first().waitFor();
  await row("site").getByText("here", { exact: true }).first().waitFor();
  await operations().getByText("1 down").waitFor({ timeout: 30_000 });
  assert.match(
    await operations().getByRole("list", { name: "Checks" }).getByRole("listitem").first().textContent(),
    /site/,
  );
  await rig().page.getByTitle("1 check down").waitFor();
  await screen(rig(), "operations-checks");
});

step("a check is put to sleep, switched off, changed and deleted by keyboard", async () => {
  const { page } = rig();
  const press = async (name) => {
    await operations().getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  await press("Snooze for 1 h");
  await row("site").getByText("snoozed until").waitFor();
  await rig().page.getByTitle("1 check down").waitFor({ state: "detached" });
  await press("End the snooze");
  await row("site").getByText("snoozed until").waitFor({ state: "detached" });
  await press("Switch off");
  await row("site").getByText("Switched off").waitFor();
  await press("Switch on");
  await row("site").getByText("Switched off").waitFor({ state: "detached" });
  await press("Change");
  const form = operations().getByRole("form", { name: "Change site" });
  await form.getByRole("textbox", { name: "Text that the page must hold" }).fill("");
  await form.getByRole("spinbutton", { name: "Failures let pass" }).fill("2");
  await form.getByRole("button", { name: "Save check" }).click();
  await row("site").getByText("down after 3 failures in a row").waitFor();
  await press("Change");
  await form.getByRole("textbox", { name: "Name" }).fill("homepage");
  await form.getByRole("button", { name: "Save check" }).click();
  await row("homepage").getByText("down after 3 failures in a row").waitFor();
  await row("site").waitFor({ state: "detached" });
  await operations().getByRole("button", { name: "Delete…", exact: true }).click();
  await page.keyboard.press("Enter"); // the focus is on what deletes
  await row("homepage").waitFor({ state: "detached" });
  await row("database").waitFor();
});

// The app goes away under the page.

import { test } from "node:test";
import { withRig } from "./rig.mjs";

const rig = withRig();

test("the page says that the app does not answer, and that the terminal is not connected", async () => {
  const { page } = rig();
  await rig().task("Left alone");
  rig().killed = true;
  rig().child.kill("SIGKILL");
  await page.getByText("The app does not answer. Trying again.").waitFor();
  await page.getByText("The connection to this terminal was lost.").waitFor();
  await page.getByRole("button", { name: "Connect again" }).waitFor();
  await page.getByRole("button", { name: "Read the changes again" }).click();
  await page.getByRole("alert").filter({ hasText: "The app does not answer." }).first().waitFor();
});

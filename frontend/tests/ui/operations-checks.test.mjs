// The tab Checks of the page Operations: what is watched, and how it stands.

import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({});
const step = story(test);
const operations = () => rig().page.getByRole("main", { name: "Operations" });

step("before anything is watched, the page says what a check is", async () => {
  await rig().page.getByRole("button", { name: "Operations", exact: true }).click();
  await operations().getByText("Nothing is watched yet.").waitFor();
  await screen(rig(), "operations-checks-none");
});

import "@xterm/xterm/css/xterm.css";
import "./tokens.css";
import "./base.css";
import "./patch.css";
import "./pages/page.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { painted } from "./native";
import { AppState } from "./state.svelte";
import { learnHardware } from "./terminal/renderer";

const target = document.getElementById("app");
if (!target) throw new Error("the page has no place for the app");

const state = new AppState();
/** A theme of the person's own is known before anything is drawn: the window's colours would flash. */
async function read(): Promise<void> {
  await state.refresh();
  if (state.settings.theme.startsWith("custom:")) await state.lookAtThemes();
}
await Promise.all([read(), learnHardware()]);
mount(App, { target, props: { state } });
state.start();

// The second frame after this one is on the screen for sure.
requestAnimationFrame(() =>
  requestAnimationFrame(() => {
    window.dispatchEvent(new Event("termic:drawn"));
    painted();
  }),
);

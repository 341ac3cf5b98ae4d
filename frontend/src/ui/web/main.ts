import "../tokens.css";
import "../base.css";
import "../patch.css";
import { mount } from "svelte";
import Web from "./Web.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("the page has no place for the app");

const light = matchMedia("(prefers-color-scheme: light)");
const paint = () => {
  document.documentElement.dataset.theme = light.matches ? "light" : "dark";
};
light.addEventListener("change", paint);
paint();
mount(Web, { target });

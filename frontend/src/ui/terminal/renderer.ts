import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, disposable } from "../../core/disposable";
import { drawsInHardware } from "../native";

/** Names of renderers that draw on the processor; there the browser's own text is faster than WebGL. */
const software = /llvmpipe|softpipe|swiftshader|software|basic render/i;

/** Contexts that may be lost before the terminal stays with the browser's own text. */
const lossBudget = 1;

/**
 * How terminals are drawn: "auto" decides by the machine. Kept in the page's storage under "termic.renderer", for
 * people whose driver is not what it claims to be.
 */
function wanted(): "auto" | "dom" | "webgl" {
  try {
    const value = localStorage.getItem("termic.renderer");
    return value === "dom" || value === "webgl" ? value : "auto";
  } catch {
    return "auto";
  }
}

let hardware = false;

/** Finds out, once and before the first terminal, whether WebGL is there and runs on a real graphics processor. */
export async function learnHardware(): Promise<void> {
  hardware = (await drawsInHardware()) ?? probe();
}

function probe(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return name !== "" && !software.test(name);
}

let losses = 0;

/** Draws a terminal with WebGL where that is worth it; after a lost context it is drawn with the browser's own text. */
export function accelerate(terminal: Terminal): Disposable {
  const want = wanted();
  if (want === "dom" || losses > lossBudget || (want === "auto" && !hardware)) return disposable(() => {});
  let addon: WebglAddon;
  try {
    addon = new WebglAddon();
    terminal.loadAddon(addon);
  } catch {
    return disposable(() => {});
  }
  const undo = disposable(() => addon.dispose());
  addon.onContextLoss(() => {
    losses++;
    undo.dispose(); // xterm.js draws with the browser's own text again
    terminal.refresh(0, terminal.rows - 1);
  });
  return undo;
}

import { type Disposable, disposable } from "../../core/disposable";

/**
 * Some input methods tell what was composed twice: at the end of the composition, and again as inserted text. The second
 * telling is kept from xterm.js, which would type it a second time. Whatever is pressed or composed next ends the watch.
 */
export function composeOnce(element: HTMLElement): Disposable {
  let composed: string | undefined;
  const ended = (event: CompositionEvent) => {
    composed = event.data;
  };
  const forget = () => {
    composed = undefined;
  };
  const input = (event: Event) => {
    const { inputType, data } = event as InputEvent;
    if (composed && inputType === "insertText" && data === composed) event.stopPropagation();
    forget();
  };
  element.addEventListener("compositionend", ended, { capture: true });
  element.addEventListener("compositionstart", forget, { capture: true });
  element.addEventListener("keydown", forget, { capture: true });
  element.addEventListener("input", input, { capture: true });
  return disposable(() => {
    element.removeEventListener("compositionend", ended, { capture: true });
    element.removeEventListener("compositionstart", forget, { capture: true });
    element.removeEventListener("keydown", forget, { capture: true });
    element.removeEventListener("input", input, { capture: true });
  });
}

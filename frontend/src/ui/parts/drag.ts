/** What happens while something is dragged with the pointer. Places are in the window's own pixels. */
export interface Drag {
  start(): void;
  over(x: number, y: number): void;
  drop(x: number, y: number): void;
  /** Runs at the end of every drag, after a drop or without one. */
  end(): void;
}

/** How far the pointer must go until a press is a drag, in pixels. */
const slack = 6;

/**
 * Makes an element one that can be dragged. The pointer's own events are used: the web view's drag and drop is for files.
 * A press that became a drag is no click, and Escape ends it.
 */
export function draggable(drag: Drag): (element: HTMLElement) => () => void {
  return (element) => {
    let from: { x: number; y: number; pointer: number } | undefined;
    let dragging = false;

    const stop = () => {
      from = undefined;
      for (const [name, run] of Object.entries(listeners)) window.removeEventListener(name, run as EventListener);
      if (!dragging) return;
      dragging = false;
      document.documentElement.removeAttribute("data-dragging");
      window.removeEventListener("keydown", left, { capture: true });
      drag.end();
    };
    const left = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      stop();
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, pointer: event.pointerId };
      for (const [name, run] of Object.entries(listeners)) window.addEventListener(name, run as EventListener);
    };
    const move = (event: PointerEvent) => {
      if (!from) return;
      if (!dragging) {
        if (Math.hypot(event.clientX - from.x, event.clientY - from.y) < slack) return;
        dragging = true;
        element.setPointerCapture(from.pointer);
        document.documentElement.setAttribute("data-dragging", "");
        window.addEventListener("keydown", left, { capture: true });
        drag.start();
      }
      drag.over(event.clientX, event.clientY);
    };
    const up = (event: PointerEvent) => {
      if (dragging) {
        drag.drop(event.clientX, event.clientY);
        element.addEventListener("click", swallow, { capture: true, once: true });
        setTimeout(() => element.removeEventListener("click", swallow, { capture: true }));
      }
      stop();
    };
    const swallow = (event: MouseEvent) => {
      event.preventDefault();
      event.stopPropagation();
    };
    const listeners = { pointermove: move, pointerup: up, pointercancel: stop } as const;
    element.addEventListener("pointerdown", down);
    return () => {
      stop();
      element.removeEventListener("pointerdown", down);
    };
  };
}

/** The element of a kind under a point; what is dragged does not hide it. */
export function under(x: number, y: number, selector: string): HTMLElement | null {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>(selector) ?? null;
}

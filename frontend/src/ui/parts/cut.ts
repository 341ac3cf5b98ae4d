/** Tells the whole text to a pointer, but only where it is cut: a tooltip that repeats what stands there hides its neighbours. */
export function whenCut(text: string): (element: HTMLElement) => () => void {
  return (element) => {
    const enter = () => {
      if (element.scrollWidth > element.clientWidth) element.title = text;
      else element.removeAttribute("title");
    };
    element.addEventListener("pointerenter", enter);
    return () => element.removeEventListener("pointerenter", enter);
  };
}

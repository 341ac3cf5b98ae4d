// F6 goes round the regions of the window. Each marks itself with data-region; inside it the element with
// data-region-focus, or the region itself, takes the focus. What asks something above or below a terminal is a region
// too, since Tab does not leave a terminal.

const order = ["sidebar", "notices", "tabs", "terminal", "asks", "bottom", "composer", "panel", "page", "status"];

export function nextRegion(by: 1 | -1): void {
  const place = (region: HTMLElement) => order.indexOf(region.dataset.region ?? "");
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")]
    .filter((region) => place(region) >= 0 && region.offsetParent !== null)
    .sort((a, b) => place(a) - place(b));
  if (regions.length === 0) return;
  const at = regions.indexOf(document.activeElement?.closest<HTMLElement>("[data-region]") ?? document.body);
  const next = at < 0 ? (by === 1 ? 0 : regions.length - 1) : (at + by + regions.length) % regions.length;
  const region = regions[next];
  if (region) focusRegion(region);
}

/** Gives the focus to the best place of a region: what it names, else the first control that takes it, else itself. */
export function focusRegion(region: HTMLElement): void {
  const places = region.querySelectorAll<HTMLElement>(
    ".xterm-helper-textarea, [data-region-focus], [tabindex='0'], button:not([tabindex='-1']), input, textarea, select",
  );
  const named = (place: HTMLElement) => (place.matches(".xterm-helper-textarea, [data-region-focus]") ? 0 : 1);
  for (const place of [...places].sort((a, b) => named(a) - named(b))) {
    place.focus();
    if (region.contains(document.activeElement)) return;
  }
  if (!region.hasAttribute("tabindex")) region.tabIndex = -1;
  region.focus();
}

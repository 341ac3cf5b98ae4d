// F6 goes round the regions of the window. Each marks itself with data-region; inside it the element with
// data-region-focus, or the region itself, takes the focus.

const order = ["sidebar", "tabs", "terminal", "composer", "panel", "page", "status"];

export function nextRegion(by: 1 | -1): void {
  const regions = order
    .map((name) => document.querySelector<HTMLElement>(`[data-region="${name}"]`))
    .filter((region): region is HTMLElement => region !== null && region.offsetParent !== null);
  if (regions.length === 0) return;
  const at = regions.findIndex((region) => region.contains(document.activeElement));
  const next = at < 0 ? (by === 1 ? 0 : regions.length - 1) : (at + by + regions.length) % regions.length;
  const region = regions[next];
  if (region) focusRegion(region);
}

export function focusRegion(region: HTMLElement): void {
  const first =
    region.querySelector<HTMLElement>(".xterm-helper-textarea") ??
    region.querySelector<HTMLElement>("[data-region-focus]") ??
    region.querySelector<HTMLElement>("[tabindex='0'], button:not([tabindex='-1']):not(:disabled), input, textarea") ??
    region;
  first.focus();
}

/**
 * Opens a dialog over everything, until what it returns is called. Then the focus goes back to what had it: the browser
 * does that only for a dialog that is closed while it is still in the page, and by then it is not.
 */
export function showModal(element: HTMLDialogElement): () => void {
  const before = document.activeElement;
  element.showModal();
  return () => {
    element.close();
    if (document.activeElement === document.body && before instanceof HTMLElement && before.isConnected) before.focus();
  };
}

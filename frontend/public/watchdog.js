// Runs before and apart from the page's own code: if that does not draw within a few seconds, or fails while it starts,
// the window says so in words instead of staying blank. It must not depend on anything.
(() => {
  // A file that is dropped must never take the place of the page, whatever else works.
  for (const name of ["dragover", "drop"]) {
    window.addEventListener(name, (event) => event.preventDefault());
  }

  const patience = 8000;
  let cause = "";

  function blank() {
    const app = document.getElementById("app");
    return !app || app.childElementCount === 0;
  }

  function explain() {
    if (!blank()) return;
    const box = document.createElement("div");
    box.id = "watchdog";
    box.setAttribute("role", "alert");
    const theme = document.documentElement.dataset.theme;
    const light = theme ? theme === "light" : matchMedia("(prefers-color-scheme: light)").matches;
    box.style.cssText =
      "position:fixed;inset:0;padding:48px;overflow:auto;font:14px/22px system-ui,sans-serif;" +
      (light ? "background:#f5f5f3;color:#1a1b1d" : "background:#16171a;color:#e7e8ea");
    const lines = [
      "The window could not be drawn.",
      "Your tasks and their agents keep running. `termic list` in a terminal shows them; `termic doctor` checks the machine.",
      "Close the window and open Termic again. If it stays like this, start it once with WEBKIT_DISABLE_DMABUF_RENDERER=1.",
    ];
    if (cause) lines.push("What went wrong: " + cause);
    for (let i = 0; i < lines.length; i++) {
      const p = document.createElement("p");
      p.style.margin = "0 0 12px";
      if (i === 0) p.style.fontWeight = "600";
      p.textContent = lines[i];
      box.appendChild(p);
    }
    (document.body || document.documentElement).appendChild(box);
  }

  const timer = setTimeout(explain, patience);
  function failed(event) {
    const reason = event.reason || event.error || event.message || "a file of the window did not load";
    cause = cause || String(reason?.message || reason);
    if (document.readyState === "complete") explain();
    else window.addEventListener("load", explain);
  }
  window.addEventListener("error", failed, true);
  window.addEventListener("unhandledrejection", failed);
  window.addEventListener("termic:drawn", () => {
    clearTimeout(timer);
    document.getElementById("watchdog")?.remove(); // it was only slow
    window.removeEventListener("load", explain);
    window.removeEventListener("error", failed, true);
    window.removeEventListener("unhandledrejection", failed);
  });
})();

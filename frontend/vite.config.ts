import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Every address is relative: the window serves the page at its root, the test bridge below a secret path.
  base: "./",
  plugins: [svelte()],
  build: {
    outDir: "dist",
    // WebKitGTK 2.40 is the oldest that the window runs on.
    target: "safari16.4",
    // The content policy allows images as data, and nothing else that is inlined.
    assetsInlineLimit: 0,
    // All of it comes from the binary: one file of 600 kB is no cost worth a warning.
    chunkSizeWarningLimit: 1024,
    modulePreload: false,
    // The window, and the page of the browser face.
    rolldownOptions: { input: ["index.html", "web.html"] },
  },
  // With the style sheets: a test measures the contrast of their colours.
  test: { include: ["src/**/*.test.ts"], environment: "node", css: true },
});

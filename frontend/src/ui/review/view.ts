import type { FileChange } from "../../gen/api";
import type { ReviewNotes } from "./notes.svelte";

/** What the lines of one file are drawn with. */
export interface FileView {
  file: FileChange;
  notes: ReviewNotes;
  /** The agent's name. */
  to: string;
  /** The number of this file's first run of changes among all of the review. */
  firstRun: number;
  /** The run that is gone to with the keys; -1 for none. */
  run: number;
  /** Whether a line, by its key, has a comment or is being commented. */
  has: (key: string) => boolean;
  /** Sends the comment that is typed by itself. */
  onsend: () => void;
}

/** Views of a review: the setting that says so, and its name. */
export const layouts = [
  ["side-by-side", "Side by side"],
  ["unified", "Unified"],
] as const;

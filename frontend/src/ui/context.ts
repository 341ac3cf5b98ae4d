import { createContext } from "svelte";
import type { AppState } from "./state.svelte";

/** The page's state, for every component. */
export const [appState, provideAppState] = createContext<AppState>();

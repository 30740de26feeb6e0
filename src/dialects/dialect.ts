import type { AnySurface } from "../routing/surface.ts";

/**
 * An API style in which callers speak. A folder exports one, and `index.ts` lists it: that is all there is to adding one.
 * A request becomes a Conversation, and its answer is rendered from GenerationEvents; no other part of the program knows
 * the style. All but the one that is asked most are loaded late.
 */
export type Dialect = AnySurface & {
  /** Names the style in logs, metrics and history; also the name of its folder. */
  readonly id: string;
};

import type { AnyRouteGroup } from "../../core/routing/route-group.ts";

/**
 * An API style of callers. To add a style, add a folder that exports a `Dialect` and list it in `index.ts`. The style
 * translates a request to a Conversation and renders the answer from GenerationEvents; no other part of the program knows
 * the style. Every style except the most used one is loaded on its first request.
 */
export type Dialect = AnyRouteGroup & {
  /** Names the style in logs, metrics and history; also the name of its folder. */
  readonly id: string;
};

/** `scripts/console/playgrounds.mjs` generates this module when it builds the console. */
declare module "polygate:playgrounds" {
  type PlaygroundDialect = import("../../gateway/dialects/playground/types.ts").PlaygroundDialect;

  /** The ids of all dialects. */
  export const dialectIds: readonly string[];
  /** The dialects that have a playground, in display order. */
  export const playgrounds: readonly [PlaygroundDialect, ...PlaygroundDialect[]];
}

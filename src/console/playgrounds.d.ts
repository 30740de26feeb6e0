/** Made by `scripts/console/playgrounds.mjs` when the console is built. */
declare module "polygate:playgrounds" {
  type PlaygroundDialect = import("../dialects/playground/types.ts").PlaygroundDialect;

  /** The dialects that have a playground, in the order in which they are offered. */
  export const playgrounds: readonly [PlaygroundDialect, ...PlaygroundDialect[]];
}

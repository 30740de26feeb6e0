/** Which runtime the black-box tests of this run are for: `RUNTIME=deno`, else workerd. */
export const RUNTIME: "deno" | "workerd" = process.env["RUNTIME"] === "deno" ? "deno" : "workerd";

/** For `skipIf`: what a test needs, Deno does not have, or tests of its own show it. */
export const ON_DENO = RUNTIME === "deno";

/** Variables that this run of the black-box tests gives every gateway: `POOL_SHARDS=4` has them run over four pools. */
export const RUN_VARS: Readonly<Record<string, string>> =
  process.env["POOL_SHARDS"] === undefined ? {} : { POOL_SHARDS: process.env["POOL_SHARDS"] };

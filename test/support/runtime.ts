/** Runtime of the black-box tests in this run: `RUNTIME=deno`, else workerd. */
export const RUNTIME: "deno" | "workerd" = process.env["RUNTIME"] === "deno" ? "deno" : "workerd";

/** For `skipIf`: the test needs something that Deno does not have, or Deno has separate tests for it. */
export const ON_DENO = RUNTIME === "deno";

/** Variables for every gateway of this run. `POOL_SHARDS=4` runs the tests with four pools. */
export const RUN_VARS: Readonly<Record<string, string>> =
  process.env["POOL_SHARDS"] === undefined ? {} : { POOL_SHARDS: process.env["POOL_SHARDS"] };

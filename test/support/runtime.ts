/** Which runtime the black-box tests of this run are for: `RUNTIME=deno`, else workerd. */
export const RUNTIME: "deno" | "workerd" = process.env["RUNTIME"] === "deno" ? "deno" : "workerd";

/** For `skipIf`: what a test needs, Deno does not have, or tests of its own show it. */
export const ON_DENO = RUNTIME === "deno";

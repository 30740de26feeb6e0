// The gateway on Deno, with a clock that is ahead and a settable database limit. Both are patched before the program loads.
import { watchDatabases } from "./database-limit.ts";

const now = Date.now;
const offset = Number(Deno.env.get("TEST_CLOCK_OFFSET") ?? 0);
Date.now = () => now() + offset;
const limitDatabases = watchDatabases();

const { default: program } = await import("../../src/deno.ts");

export default {
  ...program,
  fetch: (request, info) => limitDatabases(request) ?? program.fetch(request, info),
};

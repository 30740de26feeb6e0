// The gateway on Deno, with a settable clock and a settable database limit. Both are patched before the program loads.
import { CLOCK_PATH } from "./clock.ts";
import { watchDatabases } from "./database-limit.ts";

const now = Date.now;
let offset = Number(Deno.env.get("TEST_CLOCK_OFFSET") ?? 0);
Date.now = () => now() + offset;
const limitDatabases = watchDatabases();

const { default: program } = await import("../../src/deno.ts");

export default {
  ...program,
  fetch: (request, info) => {
    const limited = limitDatabases(request);
    if (limited !== null) return limited;
    const url = new URL(request.url);
    if (url.pathname !== CLOCK_PATH) return program.fetch(request, info);
    offset += Number(url.searchParams.get("by"));
    return new Response("set");
  },
};

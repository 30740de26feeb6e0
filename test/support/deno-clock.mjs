// The gateway on Deno, with a clock that can be set. It is patched before the program looks at it for the first time.
import { CLOCK_PATH } from "./clock.ts";

const now = Date.now;
let offset = 0;
Date.now = () => now() + offset;

const { default: program } = await import("../../src/deno.ts");

export default {
  ...program,
  fetch: (request, info) => {
    const url = new URL(request.url);
    if (url.pathname !== CLOCK_PATH) return program.fetch(request, info);
    offset += Number(url.searchParams.get("by"));
    return new Response("set");
  },
};

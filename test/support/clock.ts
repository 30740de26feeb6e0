/** Where a gateway whose clock can be set is told so; `by`: milliseconds. */
export const CLOCK_PATH = "/__test/clock";

/** To run before anything else in the gateway: its clock can be set from then on, at {@link CLOCK_PATH}. */
export const SETTABLE_CLOCK = `
  const now = Date.now;
  let offset = 0;
  Date.now = () => now() + offset;
  export function setClock(request) {
    const url = new URL(request.url);
    if (url.pathname !== "${CLOCK_PATH}") return null;
    offset += Number(url.searchParams.get("by"));
    return new Response("set");
  }`;

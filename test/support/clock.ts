/** Path that sets a gateway's clock; `by`: milliseconds. */
export const CLOCK_PATH = "/__test/clock";

/** The module to run before all others of the gateway. Tests set its clock at {@link CLOCK_PATH}. `offset`: ms at the start. */
export const settableClock = (offset = 0): string => `
  const now = Date.now;
  let offset = ${offset};
  Date.now = () => now() + offset;
  export function setClock(request) {
    const url = new URL(request.url);
    if (url.pathname !== "${CLOCK_PATH}") return null;
    offset += Number(url.searchParams.get("by"));
    return new Response("set");
  }`;

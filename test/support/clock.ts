/** Path that sets a gateway's clock; `by`: milliseconds. */
export const CLOCK_PATH = "/__test/clock";

/** Must run before all other code of the gateway. Makes its clock settable at {@link CLOCK_PATH}. */
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

/** A Deno server without the gateway, for comparison. It responds after half a second. */
export default {
  async fetch() {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return new Response("hello");
  },
};

/** What Deno itself serves, without the gateway: it answers after half a second. */
export default {
  async fetch() {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return new Response("hello");
  },
};

// Minimum cost of a cached picture: a Worker that only returns a response from the platform's cache.
import { worker } from "./gateway/subjects.mjs";

const SOURCE = `
const KEY = "https://kept.invalid/picture";

export default {
  async fetch(request) {
    if (request.method !== "PUT") return (await caches.default.match(KEY)) ?? new Response(null, { status: 404 });
    const headers = { "content-type": "image/jpeg", "cache-control": "public, max-age=86400" };
    await caches.default.put(KEY, new Response(await request.arrayBuffer(), { headers }));
    return new Response("kept");
  },
};
`;

/**
 * Starts the Worker with one picture in its cache.
 *
 * @param {ArrayBuffer} picture
 */
export async function startKept(picture) {
  const subject = await worker("kept", {
    modules: [{ type: "ESModule", path: "kept.mjs", contents: SOURCE }],
    compatibilityDate: "2026-09-01",
  });
  const url = `http://127.0.0.1:${subject.port}/`;
  await (await fetch(url, { method: "PUT", body: picture })).text();
  return { ...subject, url };
}

// Workers that do less than the gateway, for comparison on workerd. Each is a complete module; `env.UPSTREAM` is the
// upstream's URL.

const FORWARD = `
const forward = (request, env, body) => {
  const url = new URL(request.url);
  return fetch(env.UPSTREAM + url.pathname, { method: request.method, headers: request.headers, body: body ?? request.body });
};`;

/** Returns the upstream's response unchanged. JavaScript does not touch its bytes. */
export const PASS_THROUGH = `${FORWARD}
export default { fetch: (request, env) => forward(request, env) };`;

/** Copies every chunk, as a Worker must if it holds a resource until the stream ends. */
export const COPYING_LOOP = `${FORWARD}
async function pump(body, writable) {
  const reader = body.getReader();
  const writer = writable.getWriter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    await writer.write(value);
  }
  await writer.close();
}
export default {
  async fetch(request, env, ctx) {
    const answer = await forward(request, env);
    const { readable, writable } = new IdentityTransformStream();
    ctx.waitUntil(pump(answer.body, writable));
    return new Response(readable, answer);
  },
};`;

/** Parses the request and each event of the answer, changes a field, and serializes them again. */
export const REWRITER = `${FORWARD}
const rewrite = (line) => {
  if (!line.startsWith("data: ") || line === "data: [DONE]") return line;
  const event = JSON.parse(line.slice(6));
  event.model = "renamed";
  return "data: " + JSON.stringify(event);
};
async function pump(body, writable) {
  const reader = body.getReader();
  const writer = writable.getWriter();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\\n");
    rest = lines.pop();
    if (lines.length > 0) await writer.write(encoder.encode(lines.map(rewrite).join("\\n") + "\\n"));
  }
  if (rest !== "") await writer.write(encoder.encode(rewrite(rest)));
  await writer.close();
}
export default {
  async fetch(request, env, ctx) {
    const body = await request.json();
    const headers = new Headers(request.headers);
    headers.delete("content-length");
    const answer = await forward({ method: request.method, url: request.url, headers }, env, JSON.stringify(body));
    if (!body.stream) {
      const whole = await answer.json();
      whole.model = "renamed";
      return Response.json(whole);
    }
    const { readable, writable } = new IdentityTransformStream();
    ctx.waitUntil(pump(answer.body, writable));
    return new Response(readable, answer);
  },
};`;

/**
 * A pass-through that also holds a slot of a Durable Object: the minimum cost of exact limits. It releases the slot by
 * disposing its stub, as the gateway does.
 */
export const RPC_PAIR = `${FORWARD}
import { DurableObject, RpcTarget } from "cloudflare:workers";
class Slot extends RpcTarget {
  [Symbol.dispose]() {}
}
export class Pool extends DurableObject {
  acquire() {
    return { granted: { lease: "1", account: "one" }, lease: new Slot() };
  }
}
export default {
  async fetch(request, env) {
    const reply = await env.POOL.getByName("main").acquire({ requestId: "r", model: "m" });
    try {
      return await forward(request, env);
    } finally {
      reply[Symbol.dispose]();
    }
  },
};`;

// Repeats one operation in a loop. The first one is the empty loop.
const dec = new TextDecoder();
const enc = new TextEncoder();
const body = JSON.stringify({
  model: "m",
  messages: [{ role: "user", content: "Say something." }],
  stream: false,
});
const bytes = enc.encode(body);
const line = {
  level: "info",
  time: 1,
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  request_id: "req_0123456789abcdef",
  duration_ms: 3,
  route: "/v1/chat/completions",
  model: "m",
  provider: "p",
  account: "a",
  key: "k",
  prompt_tokens: 3,
  completion_tokens: 9,
};
async function nop() {}
async function wrap(p) {
  return await p;
}
let sink;
const ops = {
  "nothing (the loop)": (n) => {
    for (let i = 0; i < n; i++) sink = i;
  },
  "headers.get, absent": (n, r) => {
    const h = r.headers;
    for (let i = 0; i < n; i++) sink = h.get("x-absent-one");
  },
  "headers.get, present": (n, r) => {
    const h = r.headers;
    for (let i = 0; i < n; i++) sink = h.get("authorization");
  },
  "headers.has": (n, r) => {
    const h = r.headers;
    for (let i = 0; i < n; i++) sink = h.has("x-absent-one");
  },
  "request.headers": (n, r) => {
    for (let i = 0; i < n; i++) sink = r.headers;
  },
  "request.signal": (n, r) => {
    for (let i = 0; i < n; i++) sink = r.signal;
  },
  "request.url": (n, r) => {
    for (let i = 0; i < n; i++) sink = r.url;
  },
  "all headers into a map (forEach)": (n, r) => {
    for (let i = 0; i < n; i++) {
      const m = new Map();
      r.headers.forEach((value, name) => {
        m.set(name, value);
      });
      sink = m;
    }
  },
  "all headers into a map (new Map)": (n, r) => {
    for (let i = 0; i < n; i++) sink = new Map(r.headers);
  },
  "new Headers of 3": (n) => {
    for (let i = 0; i < n; i++) sink = new Headers({ a: "1", b: "2", "content-type": "x" });
  },
  "new Headers, 3 sets": (n) => {
    for (let i = 0; i < n; i++) {
      const h = new Headers();
      h.set("a", "1");
      h.set("b", "2");
      h.set("content-type", "x");
      sink = h;
    }
  },
  "new Response(text, 1 header)": (n) => {
    for (let i = 0; i < n; i++)
      sink = new Response(body, { headers: { "content-type": "application/json" } });
  },
  "new Response(text, 7 headers)": (n) => {
    for (let i = 0; i < n; i++)
      sink = new Response(body, {
        headers: { "content-type": "application/json", a: "1", b: "2", c: "3", d: "4", e: "5", f: "6" },
      });
  },
  "new Response(text, 1 header) + 6 headers.set": (n) => {
    for (let i = 0; i < n; i++) {
      const a = new Response(body, { headers: { "content-type": "application/json" } });
      const h = a.headers;
      for (const k of ["a", "b", "c", "d", "e", "f"]) h.set(k, "1");
      sink = a;
    }
  },
  "new Response(stream of bytes)": (n) => {
    for (let i = 0; i < n; i++) sink = new Response(bytes);
  },
  "new Request": (n) => {
    for (let i = 0; i < n; i++)
      sink = new Request("http://a.example/v1/chat/completions", {
        method: "POST",
        body,
        headers: { authorization: "Bearer x", "content-type": "application/json" },
      });
  },
  "new URL": (n) => {
    for (let i = 0; i < n; i++) sink = new URL("http://a.example/v1/chat/completions");
  },
  "new AbortController": (n) => {
    for (let i = 0; i < n; i++) sink = new AbortController();
  },
  "new AbortController, its signal": (n) => {
    for (let i = 0; i < n; i++) sink = new AbortController().signal;
  },
  "AbortSignal.any of two": (n) => {
    const a = new AbortController().signal;
    const b = new AbortController().signal;
    for (let i = 0; i < n; i++) sink = AbortSignal.any([a, b]);
  },
  "listener on a new signal: add, remove": (n) => {
    const s = new AbortController().signal;
    const f = () => {};
    for (let i = 0; i < n; i++) {
      s.addEventListener("abort", f, { once: true });
      s.removeEventListener("abort", f);
    }
  },
  "listener on request.signal: add, remove": (n, r) => {
    const s = r.signal;
    const f = () => {};
    for (let i = 0; i < n; i++) {
      s.addEventListener("abort", f, { once: true });
      s.removeEventListener("abort", f);
    }
  },
  "setTimeout, clearTimeout": (n) => {
    for (let i = 0; i < n; i++) clearTimeout(setTimeout(() => {}, 500));
  },
  "new TransformStream": (n) => {
    for (let i = 0; i < n; i++) sink = new TransformStream();
  },
  "new IdentityTransformStream": (n) => {
    for (let i = 0; i < n; i++) sink = new IdentityTransformStream();
  },
  "new ReadableStream": (n) => {
    for (let i = 0; i < n; i++) sink = new ReadableStream({ pull() {} });
  },
  "JSON.parse, 90 bytes": (n) => {
    for (let i = 0; i < n; i++) sink = JSON.parse(body);
  },
  "JSON.stringify, 90 bytes": (n) => {
    const v = JSON.parse(body);
    for (let i = 0; i < n; i++) sink = JSON.stringify(v);
  },
  "JSON.stringify of a log line": (n) => {
    for (let i = 0; i < n; i++) sink = JSON.stringify(line);
  },
  "console.log of a log line": (n) => {
    const t = JSON.stringify(line);
    for (let i = 0; i < n; i++) console.log(t);
  },
  "TextDecoder.decode, 90 bytes": (n) => {
    for (let i = 0; i < n; i++) sink = dec.decode(bytes);
  },
  "new TextDecoder": (n) => {
    for (let i = 0; i < n; i++) sink = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  },
  "TextEncoder.encode, 90 characters": (n) => {
    for (let i = 0; i < n; i++) sink = enc.encode(body);
  },
  "crypto.randomUUID": (n) => {
    for (let i = 0; i < n; i++) sink = crypto.randomUUID();
  },
  "Date.now": (n) => {
    for (let i = 0; i < n; i++) sink = Date.now();
  },
  "performance.now": (n) => {
    for (let i = 0; i < n; i++) sink = performance.now();
  },
  "await of an async function": async (n) => {
    for (let i = 0; i < n; i++) await nop();
  },
  "await of an async function in another": async (n) => {
    for (let i = 0; i < n; i++) await wrap(nop());
  },
  "await of a value": async (n) => {
    for (let i = 0; i < n; i++) await 1;
  },
  "new Promise, awaited": async (n) => {
    for (let i = 0; i < n; i++) await new Promise((f) => f(1));
  },
  "crypto.subtle.digest": async (n) => {
    for (let i = 0; i < n; i++) sink = await crypto.subtle.digest("SHA-256", bytes);
  },
  "await import of a loaded module": async (n) => {
    for (let i = 0; i < n; i++) sink = await import("node:buffer");
  },
  "waitUntil of a settled promise": async (n, _request, ctx) => {
    for (let i = 0; i < n; i++) ctx.waitUntil(nop());
    await 1;
  },
  "body: new Response(text).text()": async (n) => {
    for (let i = 0; i < n; i++) sink = await new Response(body).text();
  },
};
export default {
  async fetch(request, _env, ctx) {
    const url = new URL(request.url);
    if (url.pathname === "/names") return Response.json(Object.keys(ops));
    await ops[url.searchParams.get("name")](Number(url.searchParams.get("repeats")), request, ctx);
    return new Response(String(sink === undefined));
  },
};

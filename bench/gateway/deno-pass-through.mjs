// A pass-through server on Deno, for comparison. With COPIES it copies each chunk.
const upstream = Deno.env.get("UPSTREAM");
const copies = Deno.env.get("COPIES") === "true";

async function copy(body, writable) {
  const writer = writable.getWriter();
  for await (const chunk of body) await writer.write(chunk);
  await writer.close();
}

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")), onListen: () => undefined },
  async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/healthz") return new Response("ok");
    const answer = await fetch(upstream + pathname, {
      method: request.method,
      headers: request.headers,
      body: request.body,
    });
    if (!copies) return answer;
    const { readable, writable } = new TransformStream();
    void copy(answer.body, writable);
    return new Response(readable, answer);
  },
);

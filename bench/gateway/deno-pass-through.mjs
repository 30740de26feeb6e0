// A pass-through server on Deno, for comparison.
const upstream = Deno.env.get("UPSTREAM");

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")), onListen: () => undefined },
  (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/healthz") return new Response("ok");
    return fetch(upstream + pathname, {
      method: request.method,
      headers: request.headers,
      body: request.body,
    });
  },
);

import type { Fetch } from "../../src/core/ports/upstream.ts";

/** A request that the hosting platform received. */
export interface HostingCall {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly authorization: string;
  readonly body: Record<string, unknown>;
}

/** The API of a hosting platform. It accepts everything unless `refuse` is set. */
export class HostingPlatform {
  readonly calls: HostingCall[] = [];
  deployments: { uid: string; name: string }[] = [];
  /** The answer to requests whose path begins with `path`. A text is a page, status 0 a failed connection. */
  refuse: { path: string; status: number; body: unknown } | null = null;

  /** Forgets all calls, accepts everything, and has one deployment. */
  reset(): void {
    this.calls.length = 0;
    this.deployments = [{ uid: "dpl_old", name: "gateway" }];
    this.refuse = null;
  }

  readonly fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const text = await request.text();
    this.calls.push({
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: request.headers.get("authorization") ?? "",
      body: text === "" ? {} : JSON.parse(text),
    });
    if (this.refuse !== null && url.pathname.startsWith(this.refuse.path)) {
      const { status, body } = this.refuse;
      if (status === 0) throw new TypeError("connection refused");
      if (typeof body !== "string") return Response.json(body, { status });
      return new Response(body, { status, headers: { "content-type": "text/html" } });
    }
    if (url.pathname.endsWith("/env")) return Response.json({ created: {} }, { status: 201 });
    if (url.pathname === "/v6/deployments") return Response.json({ deployments: this.deployments });
    return Response.json({ id: "dpl_new", url: "gateway-new.example.app" });
  };
}

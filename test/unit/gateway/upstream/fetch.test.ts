import { describe, expect, it } from "vitest";
import type { ConfigSnapshot } from "../../../../src/core/config/snapshot.ts";
import type { Capture } from "../../../../src/core/ports/captures.ts";
import type { Fetch, OutboundProxy } from "../../../../src/core/ports/upstream.ts";
import {
  createUpstreamFetch,
  type ProviderProtocol,
  type UpstreamContext,
} from "../../../../src/gateway/upstream/fetch.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { getOutbox } from "../../../../src/records/telemetry/outbox.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { emptyConfig } from "../../../support/config.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const TOKEN = "account-token-0123456789";
const PASSWORD = "planted-password-1";
const URL = "https://user:pass@upstream.test/api/sessions/s1/turns?api_key=planted-key-1&x=1";

interface SetUpOptions {
  readonly enabled?: boolean;
  readonly limit?: number;
  readonly proxy?: OutboundProxy | null;
  readonly speech?: ProviderProtocol;
}

function setUp(fetch: Fetch, { enabled = true, limit = 1024, proxy = null, speech }: SetUpOptions = {}) {
  const config = emptyConfig();
  Object.assign(config.captures, { enabled, max_body_bytes: limit });
  const snapshot: ConfigSnapshot = { version: 1, config, envBacked: false, writable: true };
  const archive = new SqlArchive(memoryDatabase(), () => 0);
  const captures: Capture[] = [];
  const platform = {
    archive,
    configuration: {
      read: async () => snapshot,
      lookUp: async () => snapshot,
      atLeast: async () => snapshot,
      readFresh: async () => snapshot,
      update: async () => snapshot,
    },
    usage: new SqlUsage(memoryDatabase(), Date.now),
    now: Date.now,
    upstreamFetch: () => fetch,
    variables: { providerDriver: "sessions" },
  };
  const context: UpstreamContext = {
    config: async () => snapshot,
    requestId: "req_1",
    facts: { key: "key_1" },
    waitUntil: () => undefined,
    ...(enabled ? { onCapture: (capture: Capture) => captures.push(capture) } : {}),
    platform,
  };
  return {
    ask: createUpstreamFetch(context, proxy, speech),
    captures,
    counts: () => getOutbox(platform).counts.take(),
  };
}

const init = { method: "POST", headers: { authorization: `Bearer ${TOKEN}` }, body: '{"prompt":"hi"}' };
const answerOf = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { "content-type": "text/event-stream", ...headers } });

describe("the capture of upstream exchanges", () => {
  it("stores exchanges without secrets, wherever the upstream repeats them", async () => {
    const said = `event: text\ndata: {"text":"your token is ${TOKEN}, your password ${PASSWORD}"}\n\n`;
    const { ask, captures } = setUp(async () => answerOf(said, { "set-cookie": "sid=planted-cookie" }));
    const login = `{"email":"a@b","password":"${PASSWORD}"}`;
    await (await ask(URL, { ...init, body: login })).text();
    expect(captures[0]).toMatchObject({
      label: "completion",
      chain_key: "s1",
      key: "key_1",
      outcome: "complete",
      status: 200,
      request_body: '{"email":"a@b","password":"[masked]"}',
      response_body: 'event: text\ndata: {"text":"your token is [masked], your password [masked]"}\n\n',
    });
    const text = JSON.stringify(captures);
    for (const secret of [TOKEN, PASSWORD, "planted-cookie", "planted-key-1", "user:pass"]) {
      expect(text).not.toContain(secret);
    }
  });

  const PROXY = { type: "http", host: "p", port: 1, username: "u", password: "planted-proxy-1" } as const;
  const BASIC = Buffer.from(`u:${PROXY.password}`).toString("base64");
  /** A possible answer of a broken proxy: it repeats the request. */
  const echo = (status = 502) =>
    Response.json(
      { error: { message: `Bearer ${TOKEN} through Basic ${BASIC}, ${PROXY.password}` } },
      { status, headers: { "x-debug": `Bearer ${TOKEN}`, location: "/next?access_token=planted-query-1" } },
    );
  const PLANTED = [TOKEN, PROXY.password, BASIC.slice(4, -4), "planted-query-1"];

  it("stores no credentials of the proxy, in any header", async () => {
    const { ask, captures } = setUp(async () => echo(), { proxy: PROXY });
    await (await ask(URL, init)).text();
    expect(captures[0]?.status).toBe(502);
    for (const secret of PLANTED) expect(JSON.stringify(captures)).not.toContain(secret);
  });

  it("removes the request's secrets from a refusal, captured or not, at any status", async () => {
    for (const enabled of [true, false]) {
      for (const status of [400, 599]) {
        const { ask } = setUp(async () => echo(status), { proxy: PROXY, enabled });
        const answer = await ask(URL, init);
        expect(answer.status).toBe(status);
        expect(await answer.json()).toEqual({
          error: { message: "[masked] through Basic [masked], [masked]" },
        });
      }
    }
  });

  it("joins the features that a provider's own headers switch on with those of the protocol", async () => {
    const sent: Headers[] = [];
    const headers = { "anthropic-beta": "context-1m", "x-team": "theirs" };
    const { ask } = setUp(
      async (_url, request) => {
        sent.push(new Headers(request?.headers));
        return answerOf(null);
      },
      { speech: { driver: "anthropic", headers } },
    );
    await ask(URL, { headers: { "anthropic-beta": "files-api-2025-04-14", "x-team": "ours" } });
    expect(sent[0]?.get("anthropic-beta")).toBe("context-1m, files-api-2025-04-14");
    expect(sent[0]?.get("x-team")).toBe("ours");
  });

  it("never stores or passes on the provider's own headers", async () => {
    const headers = {
      "Ocp-Apim-Subscription-Key": "planted-subscription-1",
      "X-Tenant": "Basic planted-tenant-1",
      "X-Pin": "4711",
    };
    const speech = { driver: "sessions", headers };
    const message = "planted-subscription-1 of planted-tenant-1 is unknown (4711 tries)";
    const errorBody = { error: { message } };
    const repeated = { "x-echo": "planted-tenant-1", "ocp-apim-subscription-key": "planted" };
    for (const enabled of [true, false]) {
      const { ask, captures } = setUp(
        async () => Response.json(errorBody, { status: 401, headers: repeated }),
        {
          enabled,
          speech,
        },
      );
      const answer = await ask(URL, init);
      expect(await answer.json()).toEqual({
        error: { message: "[masked] of [masked] is unknown (4711 tries)" },
      });
      if (!enabled) continue;
      expect(captures[0]?.request_headers).toMatchObject({
        "ocp-apim-subscription-key": "[masked]",
        "x-tenant": "[masked]",
        "x-pin": "[masked]",
      });
      expect(JSON.stringify(captures)).not.toContain("planted-subscription");
      expect(JSON.stringify(captures)).not.toContain("planted-tenant");
      expect(captures[0]?.response_headers).toMatchObject({ "ocp-apim-subscription-key": "[masked]" });
    }
    const { ask, captures } = setUp(async () => answerOf("data: planted-subscription-1\n\n"), { speech });
    await (await ask(URL, init)).text();
    expect(captures[0]?.response_body).toBe("data: [masked]\n\n");
  });

  it("masks a token of which only the beginning was stored", async () => {
    const answer = (type: string) => async () =>
      answerOf(JSON.stringify({ pad: "x".repeat(20), token: "fresh-token-0123456789" }), {
        "content-type": type,
      });
    // A server may call its JSON something else.
    for (const type of ["application/json", "text/plain"]) {
      const { ask, captures } = setUp(answer(type), { limit: 50 });
      await (await ask("https://upstream.test/api/login", { method: "POST", body: "{}" })).text();
      expect(captures[0]?.response_body).toContain("[masked]");
      expect(captures[0]?.response_body).not.toContain("fresh");
    }
    const cut = setUp(async () => answerOf(`data: ${TOKEN}`), { limit: 20 });
    await (await cut.ask(URL, init)).text();
    expect(cut.captures[0]?.response_body).toBe("data: [masked]");
  });

  it("masks the token that a sign-in answers", async () => {
    const answer = Response.json({ token: "fresh-token-0123456789", expires_at: 5 });
    const { ask, captures } = setUp(async () => answer);
    await (await ask("https://upstream.test/api/login", { method: "POST", body: "{}" })).json();
    expect(captures[0]).toMatchObject({
      label: "login",
      chain_key: "",
      response_body: '{"token":"[masked]","expires_at":5}',
    });
  });

  it("passes on bytes unchanged and at once, and stores a limited number", async () => {
    const pieces = ["one ", "two ", "three "].map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const { ask, captures } = setUp(async () => answerOf(body), { limit: 6 });
    const seen: Uint8Array[] = [];
    for await (const bytes of (await ask(URL, init)).body ?? []) seen.push(bytes);
    expect(seen).toEqual(pieces);
    expect(captures[0]).toMatchObject({ response_body: "one tw", response_bytes: 14, truncated: true });
  });

  it("distinguishes a finished reader from one that gave up, and cancels the upstream", async () => {
    const reasons: unknown[] = [];
    const endless = () =>
      answerOf(
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(new Uint8Array([65])),
          cancel: (reason) => void reasons.push(reason),
        }),
      );
    const { ask, captures } = setUp(async () => endless());
    for (const reason of [undefined, "left"]) {
      const reader = (await ask(URL, init)).body?.getReader();
      await reader?.read();
      await reader?.cancel(reason);
    }
    expect(captures.map(({ outcome }) => outcome)).toEqual(["complete", "cancelled"]);
    expect(reasons).toEqual([undefined, "left"]);
  });

  it("stores failures, and throws them again", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error(`cut with ${TOKEN}`)),
    });
    const failing = setUp(async () => answerOf(broken));
    await expect((await failing.ask(URL, init)).text()).rejects.toThrow("cut");
    expect(failing.captures[0]).toMatchObject({ outcome: "error", error: "cut with [masked]" });
    const refused = setUp(async () => Promise.reject(new Error("refused")));
    await expect(refused.ask(URL, init)).rejects.toThrow("refused");
    expect(refused.captures[0]).toMatchObject({ outcome: "error", status: 0, error: "refused" });
    expect(refused.counts()).toEqual({
      'polygate_upstream_requests_total{operation="completion",status="unreachable"}': 1,
    });
  });

  it("only counts requests while captures are off", async () => {
    const answer = answerOf("text");
    const { ask, captures, counts } = setUp(async () => answer, { enabled: false });
    expect(await ask(URL, init)).toBe(answer);
    expect(captures).toEqual([]);
    expect(counts()).toEqual({ 'polygate_upstream_requests_total{operation="completion",status="200"}': 1 });
  });

  it("does not read the body of an upload", async () => {
    const upload = new ReadableStream<Uint8Array>(
      { pull: () => expect.fail("the tap read the upload") },
      { highWaterMark: 0 },
    );
    const { ask, captures } = setUp(async () => answerOf(null));
    await ask("https://upstream.test/api/files", { method: "POST", body: upload });
    expect(captures[0]).toMatchObject({ label: "file", request_body: "[not captured]" });
  });
});

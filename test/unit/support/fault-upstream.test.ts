import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bodyBytes } from "../../support/fault-body.ts";
import { FaultUpstream, type Plan, refusedUrl } from "../../support/fault-upstream.ts";

let upstream: FaultUpstream;

beforeEach(async () => {
  upstream = await FaultUpstream.start();
});
afterEach(() => upstream.close());

const generate = (path = "/api/sessions/s/turns", init: RequestInit = {}): Promise<Response> =>
  fetch(`${upstream.url}${path}`, { method: "POST", body: `{"stream":true}`, ...init });

async function textOf(plan: Plan, path?: string): Promise<string> {
  upstream.queue(plan);
  return (await generate(path)).text();
}

describe("the fault upstream", () => {
  it("answers every protocol in good health", async () => {
    expect(await textOf({})).toMatch(/^event: start\n[\s\S]*event: finish\ndata: \{"reason":"stop"\}\n\n$/);
    const completions = await textOf({ reasoning: "hm" }, "/v1/chat/completions");
    expect(completions).toContain('"reasoning_content":"hm"');
    expect(completions).toMatch(/data: \[DONE\]\n\n$/);
    const message = await textOf({ reasoning: "hm" }, "/v1/messages");
    expect(message).toContain('"delta":{"type":"thinking_delta","thinking":"hm"}');
    expect(message).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  });

  it("cuts in good order at any byte", async () => {
    const whole = bodyBytes("sessions", { text: "Grüße" });
    for (const cutAt of [0, 1, 40, whole.length - 1]) {
      upstream.queue({ text: "Grüße", cutAt });
      const received = new Uint8Array(await (await generate()).arrayBuffer());
      expect(received).toEqual(whole.subarray(0, cutAt));
    }
  });

  it("tears characters", async () => {
    expect(await textOf({ text: "Grüße 🙂", writeSize: 1 })).toContain("🙂");
  });

  it("breaks the connection", async () => {
    upstream.queue({ resetAt: 50 });
    await expect(generate().then((response) => response.text())).rejects.toThrow();
    await expect.poll(() => upstream.open).toBe(0);
    expect(upstream.generations[0]).toMatchObject({ completed: false, written: 50 });
  });

  it("hangs and stalls until the client leaves, and sees when", async () => {
    for (const plan of [{ hang: true }, { stallAfter: 1 }]) {
      upstream.queue(plan);
      const abort = new AbortController();
      const request = generate(undefined, { signal: abort.signal }).then((response) => response.text());
      await expect.poll(() => upstream.open).toBe(1);
      abort.abort();
      await expect(request).rejects.toThrow();
      await expect.poll(() => upstream.open).toBe(0);
    }
    expect(upstream.generations.every(({ closedAt }) => closedAt !== undefined)).toBe(true);
  });

  it("goes from one scripted answer to the next", async () => {
    upstream.queue({ status: 401, code: "token_expired" }, { status: 429, headers: { "retry-after": "1" } });
    const refused = await generate();
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: "token_expired" } });
    expect((await generate()).headers.get("retry-after")).toBe("1");
    expect((await generate()).status).toBe(200);
  });

  it("refuses the tokens of earlier sign-ins", async () => {
    const login = await fetch(`${upstream.url}/api/login`, { method: "POST" });
    const { token } = Object(await login.json());
    const headers = { authorization: `Bearer ${token}` };
    expect((await generate(undefined, { headers })).status).toBe(200);
    upstream.expireTokens();
    expect((await generate(undefined, { headers })).status).toBe(401);
    expect(upstream.signIns).toBe(1);
  });

  it("writes what no upstream should", async () => {
    const path = "/chat/completions";
    expect(await textOf({ done: "missing" }, path)).not.toContain("[DONE]");
    expect((await textOf({ done: "twice" }, path)).match(/\[DONE\]/g)).toHaveLength(2);
    expect(await textOf({ garbageAt: 1 })).toContain('data: {"torn": \n\n');
    expect(await textOf({ errorAt: 2, code: "rate_limited" })).toMatch(
      /event: error\ndata: \{"code":"rate_limited".*\}\n\n$/,
    );
    expect(await textOf({ crlf: true })).not.toMatch(/[^\r]\n/);
    expect((await textOf({ longLine: 5 * 1024 * 1024 })).length).toBeGreaterThan(5 * 1024 * 1024);
  });
});

it("an address at which nobody listens refuses", async () => {
  await expect(fetch(await refusedUrl())).rejects.toThrow();
});

import { describe, expect, it } from "vitest";
import { conversation } from "../support.ts";

import { json, open, upstream } from "./fake.ts";

describe("a provider that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    open(upstream({ "/turns": respond }), conversation()).catch((error: unknown) => error);

  it.each([
    [400, "invalid_request"],
    [401, "token_expired"],
    [403, "account_suspended"],
    [404, "not_found"],
    [413, "too_large"],
    [418, "invalid_request"],
    [429, "rate_limited"],
    [500, "server_error"],
    [502, "server_error"],
    [503, "model_unavailable"],
    [504, "timeout"],
    [302, "malformed"],
  ])("with status %i and nothing said is a failure of the kind %s", async (status, kind) => {
    expect(await failing(() => new Response("<html>", { status }))).toMatchObject({
      name: "ProviderError",
      kind,
      status,
    });
  });

  it("is classified by its reason rather than by the status", async () => {
    const failure = await failing(() => json({ error: { code: "model_unavailable", message: "m" } }, 400));
    expect(failure).toMatchObject({ kind: "model_unavailable", message: "the provider says: m" });
  });

  it("has a bounded message without the token", async () => {
    const message = `token-of-the-account ${"x".repeat(70_000)}`;
    const long = await failing(() => json({ error: { code: "invalid_request", message } }, 400));
    expect(long).toMatchObject({ kind: "invalid_request" });
    const short = await failing(() => json({ error: { message: message.slice(0, 3000) } }, 400));
    expect(String(short).length).toBeLessThan(600);
    expect(String(short)).toContain("[masked]");
    expect(`${String(long)} ${String(short)}`).not.toContain("token-of-the-account");
  });

  it("cannot send an endless error", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: () => {
        cancelled = true;
      },
    });
    expect(await failing(() => new Response(endless, { status: 500 }))).toMatchObject({
      kind: "server_error",
    });
    expect(cancelled).toBe(true);
  });

  it("cannot send an endless answer", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      },
    });
    const session = upstream({ "/api/sessions": () => new Response(endless) });
    await expect(open(session, conversation())).rejects.toMatchObject({ kind: "malformed" });
    expect(sent).toBeLessThan(20);
  });

  it("is malformed with anything but an event stream", async () => {
    expect(await failing(() => json({ ok: true }))).toMatchObject({ kind: "malformed" });
    expect(await failing(() => new Response(null, { status: 204 }))).toMatchObject({ kind: "malformed" });
    const session = upstream({ "/api/sessions": () => new Response("<html>") });
    await expect(open(session, conversation())).rejects.toMatchObject({ kind: "malformed" });
  });

  it("is unreachable, without its address", async () => {
    const failure = await failing(() => Promise.reject(new TypeError("connect ECONNREFUSED 10.0.0.1:80")));
    expect(failure).toMatchObject({ name: "ProviderError", kind: "unreachable" });
    expect(String(failure)).not.toContain("10.0.0.1");
  });

  it("is no failure if the request was cancelled", async () => {
    const controller = new AbortController();
    const reason = new Error("the client left");
    const fake = upstream({
      "/turns": () => {
        controller.abort(reason);
        return Promise.reject(new DOMException("aborted", "AbortError"));
      },
    });
    await expect(open(fake, conversation(), {}, controller.signal)).rejects.toBe(reason);
    await expect(open(upstream(), conversation(), {}, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

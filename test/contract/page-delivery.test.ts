import { createHash, createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { html, startPageService } from "../support/pages.ts";

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

describe("the delivery of jobs", () => {
  let site: LocalServer;
  /** Gets the results. Pages may not be loaded from it. */
  let receiver: LocalServer;
  let gateway: Gateway;
  let received: Received[] = [];
  const loading: string[] = [];
  let failures = 0;

  beforeAll(async () => {
    site = await serve(async (_, response, { pathname }) => {
      loading.push(pathname);
      if (pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, 2_000));
      html(response, `<meta name="description" content="${pathname}">`);
    });
    receiver = await serve((request, response, { pathname }) => {
      const chunks: Uint8Array[] = [];
      request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        received.push({ method: request.method ?? "", path: pathname, headers: request.headers, body });
        response.statusCode = failures-- > 0 ? 500 : 204;
        response.end();
      });
    });
    gateway = await startPageService([site.host], { DELIVERY_PRIVATE_HOSTS: receiver.host });
  });
  afterAll(async () => {
    await gateway.close();
    await site.close();
    await receiver.close();
  });
  beforeEach(() => {
    received = [];
    failures = 0;
  });

  const KEY = { authorization: "Bearer sk-dev" };
  const post = (body: object, headers: Record<string, string> = KEY) =>
    gateway.fetch("/v1/metadata", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const errorOf = async (response: Response) => {
    const { error }: { error: { code: string; param: string } } = JSON.parse(await response.text());
    return [response.status, error.code, error.param];
  };
  const ofPath = (path: string) => received.filter((request) => request.path === path);

  it("uploads each result with PUT, and posts the final state, signed with the key, after a failure again", async () => {
    failures = 1;
    const answer = await post({
      urls: [`${site.origin}/one`, `${site.origin}/two`],
      uploadUrls: [`${receiver.origin}/bucket/1?sig=x`, `${receiver.origin}/bucket/2`],
      webhook: `${receiver.origin}/hook`,
    });
    expect(answer.status).toBe(202);
    const { id } = JSON.parse(await answer.text());
    await expect.poll(() => ofPath("/hook").length, { timeout: 60_000 }).toBe(1);
    const uploads = [...ofPath("/bucket/1"), ...ofPath("/bucket/2")];
    // One of the two was refused at first, and sent again.
    expect(uploads).toHaveLength(3);
    for (const { method, headers, body } of uploads) {
      expect([method, headers["content-type"]]).toEqual(["PUT", "application/json"]);
      expect(["/one", "/two"]).toContain(JSON.parse(body).description);
    }
    const [hook] = ofPath("/hook");
    const state = JSON.parse(hook?.body ?? "");
    expect(state).toMatchObject({ id, status: "completed", progress: { total: 2, completed: 2 } });
    const digest = createHash("sha256").update("sk-dev").digest("hex");
    const timestamp = String(hook?.headers["webhook-timestamp"]);
    const signature = createHmac("sha256", `polygate-webhook:${digest}`)
      .update(`${id}.${timestamp}.${hook?.body}`)
      .digest("base64");
    expect(hook?.headers["webhook-id"]).toBe(id);
    expect(hook?.headers["webhook-signature"]).toBe(`v1,${signature}`);
    expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(300);
  });

  it("delivers a call with async, too", async () => {
    const query = new URLSearchParams({
      url: `${site.origin}/three`,
      async: "true",
      uploadUrl: `${receiver.origin}/bucket/3`,
    });
    const answer = await gateway.fetch(`/v1/metadata?${query}`, { headers: KEY });
    expect(answer.status).toBe(202);
    await expect.poll(() => ofPath("/bucket/3").length, { timeout: 30_000 }).toBe(1);
    expect(JSON.parse(ofPath("/bucket/3")[0]?.body ?? "")).toMatchObject({ description: "/three" });
  });

  it("uploads nothing of a page that was loading when its job was cancelled", async () => {
    const answer = await post({
      urls: [`${site.origin}/slow`],
      uploadUrls: [`${receiver.origin}/bucket/slow`],
      webhook: `${receiver.origin}/cancelled`,
    });
    const { id } = JSON.parse(await answer.text());
    await expect.poll(() => loading).toContain("/slow");
    const cancelled = await gateway.fetch(`/v1/jobs/${id}`, { method: "DELETE" });
    expect(await cancelled.json()).toMatchObject({ status: "cancelled" });
    await expect.poll(() => ofPath("/cancelled").length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(ofPath("/bucket/slow")).toEqual([]);
  });

  it("calls the webhook of a finished job while other jobs of the key go on", async () => {
    const slow = Array.from({ length: 30 }, (_, n) => `${site.origin}/slow?${n}`);
    await post({ urls: [`${site.origin}/early`], webhook: `${receiver.origin}/early` });
    const { id } = JSON.parse(await (await post({ urls: slow })).text());
    await expect.poll(() => ofPath("/early").length, { timeout: 15_000 }).toBe(1);
    const rest = await gateway.fetch(`/v1/jobs/${id}`, { method: "DELETE" });
    expect(await rest.json()).toMatchObject({ status: "cancelled" });
  });

  it("needs a key, a job, public addresses, and an upload address for each page", async () => {
    const urls = [`${site.origin}/one`, `${site.origin}/two`];
    const webhook = `${receiver.origin}/hook`;
    expect(await errorOf(await post({ urls, webhook }, {}))).toEqual([403, "permission_denied", "webhook"]);
    // That pages may be loaded from a private host does not make it a receiver.
    for (const address of [
      "http://10.0.0.1/",
      `${site.origin}/hook`,
      `${site.origin.replace("127.0.0.1", "2130706433")}/`,
    ]) {
      expect(await errorOf(await post({ urls, webhook: address }))).toEqual([
        ...[400, "invalid_request", "webhook"],
      ]);
      expect(await errorOf(await post({ urls, uploadUrls: [address, address] }))).toEqual([
        ...[400, "invalid_request", "uploadUrls"],
      ]);
    }
    expect(await errorOf(await post({ urls, uploadUrls: [webhook] }))).toEqual([
      ...[400, "invalid_request", "uploadUrls"],
    ]);
    expect(await errorOf(await post({ url: urls[0], webhook }))).toEqual([400, "invalid_request", "webhook"]);
    const query = new URLSearchParams({ url: urls[0] ?? "", webhook });
    expect(await errorOf(await gateway.fetch(`/v1/metadata?${query}`, { headers: KEY }))).toEqual([
      ...[400, "invalid_request", "webhook"],
    ]);
    expect(received).toEqual([]);
  });
});

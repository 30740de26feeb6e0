import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { serve } from "../support/local-server.ts";
import { rawUpload } from "../support/raw-client.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const refuse = (response: ServerResponse, status: number, code: string) =>
  json(response, status, { error: { code, message: code } });

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

/** A provider whose answers a test sets. A request's token names its account. */
let take: Answer = () => undefined;
let check: Answer = () => undefined;
let status: Answer = () => undefined;
const signIns: string[] = [];
const server = await serve((request, response) => {
  const path = request.url ?? "";
  if (path === "/api/login") {
    void bodyOf(request).then((body) => {
      const { email }: { email: string } = JSON.parse(body);
      signIns.push(email);
      json(response, 200, { token: `${email}#${signIns.length}`, expires_at: 4_000_000_000 });
    });
  } else if (path === "/api/account") void check(request, response);
  else if (path === "/api/files") void Promise.resolve(take(request, response)).catch(() => undefined);
  else if (path.startsWith("/api/files/")) void status(request, response);
  else refuse(response, 404, "not_found");
});

const FIRST_BYTE_TIMEOUT_MS = 3_000;
const accounts = ["one", "two"].map((name) => ({ email: `${name}@provider.test`, password: "x" }));
let test: Gateway;
beforeAll(async () => {
  test = await startGateway({
    vars: {
      PROVIDER_BASE_URL: server.origin,
      GATEWAY_CONFIG_JSON: JSON.stringify({ keys: [DEV_KEY], accounts }),
      IDLE_TIMEOUT_MS: "1000",
      FIRST_BYTE_TIMEOUT_MS: String(FIRST_BYTE_TIMEOUT_MS),
    },
  });
});
afterAll(async () => {
  await test.close();
  await server.close();
});

const object = {
  id: "file_1",
  bytes: 5,
  filename: "a.txt",
  purpose: "",
  status: "processed",
  created_at: 1_700_000_000,
};
const authorization = `Bearer ${DEV_KEY}`;
const upload = (size = 5) => {
  const body = new FormData();
  body.append("file", new File([new Uint8Array(size)], "a.txt", { type: "text/plain" }));
  body.append("purpose", "vision");
  return test.fetch("/v1/files", { method: "POST", headers: { authorization }, body });
};

beforeEach(() => {
  check = (_request, response) => void json(response, 200, { id: "account", session_count: 0 });
  take = async (request, response) => {
    await bodyOf(request);
    json(response, 200, object);
  };
});
const inUse = async () => {
  const headers = { authorization: "Bearer admin" };
  const status: { in_use: number } = await (await test.fetch("/admin/queue/status", { headers })).json();
  return status.in_use;
};
afterEach(() => expect.poll(inUse).toBe(0));

describe("an upload and its provider", () => {
  it("sends the whole form, and completes the provider's answer", async () => {
    let seen = "";
    take = async (request, response) => {
      seen = await bodyOf(request);
      json(response, 200, object);
    };
    const response = await upload();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      id: "file_1",
      purpose: "vision",
      created_at: 1_700_000_000,
    });
    expect(seen).toMatch(/name="purpose"\r\n\r\nvision\r\n/);
    expect(seen).toMatch(/name="model"\r\n\r\nflash\r\n/);
    expect(seen).toContain('name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n\0\0\0\0\0\r\n');
  });

  it("passes the beginning on before the client has sent the end", async () => {
    const begun = Promise.withResolvers<void>();
    take = async (request, response) => {
      request.once("data", () => begun.resolve());
      await bodyOf(request);
      json(response, 200, object);
    };
    const boundary = "XX";
    const text = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(
          text.encode(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`),
        );
        controller.enqueue(new Uint8Array(300_000));
        await begun.promise;
        controller.enqueue(text.encode(`\r\n--${boundary}--\r\n`));
        controller.close();
      },
    });
    const headers = { authorization, "content-type": `multipart/form-data; boundary=${boundary}` };
    const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    const response = await test.fetch("/v1/files", init);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it.each<[string, Answer, number, string | RegExp]>([
    [
      "refuses the file unread",
      (_q, response) => void refuse(response, 400, "invalid_request"),
      400,
      "invalid_request",
    ],
    [
      "finds the file too large",
      (_q, response) => void refuse(response, 413, "too_large"),
      413,
      "request_too_large",
    ],
    ["fails", (_q, response) => void refuse(response, 500, "oops"), 503, "upstream_error"],
    ["hangs up", (request) => void request.socket.destroy(), 503, /^upstream_/],
    [
      "answers with garbage",
      async (request, response) => {
        await bodyOf(request);
        response.end("<html>");
      },
      503,
      "upstream_error",
    ],
    ["never answers", async (request) => void (await bodyOf(request)), 503, "upstream_timeout"],
  ])("is an error if the provider %s", async (_name, answer, expected, code) => {
    take = answer;
    const response = await upload(2_000_000);
    expect(response.status).toBe(expected);
    expect(await response.json()).toMatchObject({ error: { code: expect.stringMatching(code) } });
  });

  it("does not wait for a provider that is silent about the account, or about a file", async () => {
    const { id }: { id: string } = await (await upload()).json();
    check = () => undefined;
    status = () => undefined;
    for (const asked of [upload(), test.fetch(`/v1/files/${id}`, { headers: { authorization } })]) {
      const response = await asked;
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { code: "upstream_timeout" } });
    }
  });

  it("renews a token that the provider has forgotten, before it sends the file", async () => {
    await (await upload()).body?.cancel();
    await (await upload()).body?.cancel();
    const known = signIns.length;
    check = (request, response) =>
      Number(request.headers.authorization?.split("#")[1]) > known
        ? void json(response, 200, { id: "account", session_count: 0 })
        : void refuse(response, 401, "token_expired");
    const response = await upload();
    expect(response.status).toBe(200);
    await response.body?.cancel();
    expect(signIns).toHaveLength(known + 1);
  });

  it("answers 408 to a client that stops in mid-file", async () => {
    const headers = { authorization, "content-type": "multipart/form-data; boundary=XX" };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(
          new TextEncoder().encode(
            '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
          ),
        ),
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    const response = await test.fetch("/v1/files", init);
    expect(response.status).toBe(408);
    await response.body?.cancel();
  });

  it.each(["a reset", "an orderly close"])(
    "ends when its client leaves by %s before it is read",
    async (how) => {
      const checked = Promise.withResolvers<void>();
      check = () => checked.resolve();
      const client = await rawUpload(test, "/v1/files", 60_000);
      await checked.promise;
      const leftAt = Date.now();
      if (how === "a reset") client.resetAndDestroy();
      else client.destroy();
      await expect.poll(inUse, { interval: 20 }).toBe(0);
      expect(Date.now() - leftAt).toBeLessThan(FIRST_BYTE_TIMEOUT_MS - 1_000);
    },
  );

  // The last: a suspended account cools down.
  it("skips an account that the provider refuses", async () => {
    let refused = "";
    check = (request, response) => {
      const account = request.headers.authorization?.split("#")[0] ?? "";
      if (refused === "") refused = account;
      if (account === refused) refuse(response, 403, "account_suspended");
      else json(response, 200, { id: "account", session_count: 0 });
    };
    const response = await upload();
    expect(response.status).toBe(200);
    const { account_id: account }: { account_id: string } = await response.json();
    expect(`Bearer ${account}`).not.toBe(refused);
    expect(accounts.map(({ email }) => email)).toContain(account);
  });
});

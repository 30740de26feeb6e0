import { describe, expect, test } from "vitest";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { accountNamed, KEY } from "../../../support/memory-platform.ts";
import type { Reply, UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { accountOf, refuses } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const BOUNDARY = "b";
const HEAD = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${BOUNDARY}--\r\n`;

const isUpload = ({ method, path }: UpstreamRequest): boolean => method === "POST" && path === "/api/files";
const uploads = ({ upstream }: MemoryGateway): UpstreamRequest[] => upstream.asked.filter(isUpload);

/** Answers some requests of some accounts, and everything else as the protocol says. */
const answering = (matches: (asked: UpstreamRequest) => boolean, reply: Reply): MemoryGatewayOptions => ({
  other: (asked) => (matches(asked) ? reply : undefined),
});

/** A form that comes in pieces, with so many milliseconds before each; it stalls when `stall` says so. */
function formOf(pieces: readonly string[], { pause = 0, stall = false } = {}): ReadableStream<Uint8Array> {
  const rest = [...pieces];
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      pull: async (controller) => {
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
        const piece = rest.shift();
        if (piece !== undefined) controller.enqueue(encoder.encode(piece));
        else if (stall) await new Promise(() => {});
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

interface Sent {
  readonly body?: ReadableStream<Uint8Array>;
  readonly key?: string;
  readonly target?: string;
  readonly signal?: AbortSignal;
}

const whole = () => formOf([HEAD, "hello", TAIL]);

function send(
  gateway: MemoryGateway,
  { body = whole(), key = KEY, target, signal }: Sent = {},
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    ...(target === undefined ? {} : { "x-gateway-target-account": target }),
  };
  const init = { method: "POST", headers, body, duplex: "half", ...(signal === undefined ? {} : { signal }) };
  return gateway.request("/v1/files", init);
}

describe("an upload", () => {
  test("is passed on, stored for its caller, and answered with the account that has it", async () => {
    const gateway = await createGateway({ config: { keys: [KEY, "sk-other"] } });
    const response = await send(gateway);
    expect(await response.json()).toMatchObject({ id: "file-1", object: "file", account_id: "one@test" });
    expect(uploads(gateway)).toMatchObject([{ body: expect.stringMatching(/hello.*batch/s) }]);
    const read = (key: string) =>
      gateway.request("/v1/files/file-1", { headers: { authorization: `Bearer ${key}` } });
    expect((await read(KEY)).status).toBe(200);
    expect((await read("sk-other")).status).toBe(404);
  });

  test("that takes minutes holds its slot while bytes arrive", async () => {
    const pieces = Array.from({ length: 6 }, () => "hello ");
    const gateway = await createGateway({ env: { FIRST_BYTE_TIMEOUT_MS: "30000" } });
    const answer = send(gateway, { body: formOf([HEAD, ...pieces, TAIL], { pause: 25_000 }) });
    // The form's parser tells of the file with its first bytes.
    await pass(51_000);
    for (let piece = 0; piece < 6; piece += 1) {
      expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 1 });
      await pass(25_000);
    }
    await gateway.settle();
    expect((await answer).status).toBe(200);
  });

  test("may take 600 s, and one more second for each received 64 KiB", async () => {
    const gateway = await createGateway();
    gateway.upstream.takesEvery = 50_000;
    const pieces = Array.from({ length: 14 }, () => "x".repeat(1024 * 1024));
    const answer = send(gateway, { body: formOf([HEAD, ...pieces, TAIL]) });
    // Without these seconds it would have failed by now.
    await pass(650_000);
    expect(uploads(gateway)).toMatchObject([{ outcome: "open" }]);
    await pass(250_000);
    expect((await answer).status).toBe(200);
  });

  test.each([
    ["has no file", formOf([`--${BOUNDARY}--\r\n`]), 400],
    ["is broken off", formOf([`--${BOUNDARY}\r\ncontent-`]), 400],
  ])("that %s takes no slot", async (_, body, status) => {
    const gateway = await createGateway();
    expect((await send(gateway, { body })).status).toBe(status);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("that is not a form is a 400", async () => {
    const gateway = await createGateway();
    const response = await gateway.post("/v1/files", { file: "hello" });
    expect(response.status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("is a 501 if the provider stores no files", async () => {
    const gateway = await createGateway({ env: { PROVIDER_DRIVER: "openai" } });
    expect((await send(gateway)).status).toBe(501);
  });
});

describe("an account that is refused before the file is sent", () => {
  const suspended = (asked: UpstreamRequest): boolean =>
    asked.path === "/api/account" && accountOf(asked) === "one@test";

  test("is replaced by another one, which gets the whole file", async () => {
    const gateway = await createGateway(answering(suspended, refuses(403, "account_suspended")));
    const response = await send(gateway);
    expect(await response.json()).toMatchObject({ account_id: "two@test" });
    expect(uploads(gateway).map(accountOf)).toEqual(["two@test"]);
    expect(uploads(gateway)).toMatchObject([{ body: expect.stringContaining("hello") }]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      cooldowns: [{ account: "one@test" }],
    });
  });

  test("is not replaced if the request is pinned to it", async () => {
    const gateway = await createGateway(answering(suspended, refuses(403, "account_suspended")));
    const response = await send(gateway, { target: "one@test" });
    expect(response.status).toBe(503);
    expect(uploads(gateway)).toEqual([]);
  });

  test("for an expired token gets a new token and the file", async () => {
    const expired = ({ path, token }: UpstreamRequest) => path === "/api/account" && token === "one@test#1";
    const gateway = await createGateway(answering(expired, refuses(401, "token_expired")));
    expect((await send(gateway)).status).toBe(200);
    expect(uploads(gateway).map(({ token }) => token)).toEqual(["one@test#2"]);
  });
});

describe("a partly sent file cannot be sent again:", () => {
  test.each<[string, Reply, number]>([
    ["a refusal of the account", refuses(403, "account_suspended"), 503],
    ["a rate limit", refuses(429, "rate_limited"), 429],
    ["a token that has expired by then", refuses(401, "token_expired"), 503],
    ["a file that is too large", refuses(413, "too_large"), 413],
    ["a broken connection", "unreachable", 503],
  ])("the caller gets an error: %s", async (_, reply, status) => {
    const gateway = await createGateway(answering(isUpload, reply));
    const response = await send(gateway);
    expect(response.status).toBe(status);
    expect(uploads(gateway)).toHaveLength(1);
    expect(gateway.upstream.to(/login/)).toHaveLength(1);
  });
});

describe("a failed upload", () => {
  test("is a 503 after 120 s if the provider does not answer", async () => {
    const gateway = await createGateway(answering(isUpload, "hang"));
    const answer = send(gateway);
    await pass(120_000);
    expect(await (await answer).json()).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(uploads(gateway)).toMatchObject([{ outcome: "cancelled" }]);
  });

  test("is a 408 after 60 s if the client stops sending, and ends at the provider, too", async () => {
    const gateway = await createGateway();
    const answer = send(gateway, { body: formOf([HEAD, "hel"], { stall: true }) });
    await pass(60_000);
    expect((await answer).status).toBe(408);
    expect(uploads(gateway)).toMatchObject([{ outcome: "cancelled" }]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("is a 408 after 600 s if the client sends very slowly", async () => {
    const gateway = await createGateway();
    const body = formOf([HEAD, ...Array.from({ length: 100 }, () => "la ")], { pause: 50_000 });
    const answer = send(gateway, { body });
    // The form's parser reads two pieces before the slot is taken.
    await pass(690_000);
    await pass(20_000);
    expect((await answer).status).toBe(408);
    expect(uploads(gateway)).toMatchObject([{ outcome: "cancelled" }]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("is a 503 after 600 s if the provider reads very slowly", async () => {
    const gateway = await createGateway();
    gateway.upstream.takesEvery = 50_000;
    const body = formOf([HEAD, ...Array.from({ length: 100 }, () => "la "), TAIL]);
    const answer = send(gateway, { body });
    // Its sign-in takes a piece, too.
    await pass(650_000);
    expect(await (await answer).json()).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(uploads(gateway)).toMatchObject([{ outcome: "cancelled" }]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
  });

  test("is a 499 without blame if the client leaves", async () => {
    const gateway = await createGateway();
    const client = new AbortController();
    const answer = send(gateway, { body: formOf([HEAD, "hel"], { stall: true }), signal: client.signal });
    await pass(5_000);
    client.abort();
    expect((await answer).status).toBe(499);
    expect(uploads(gateway)).toMatchObject([{ outcome: "cancelled" }]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("is a 429 if all slots are taken, although the client is still sending", async () => {
    const gateway = await createGateway({
      config: { accounts: [accountNamed("one@test")], runtime: { account_max_inflight: 1 } },
      env: { QUEUE_TIMEOUT_MS: "5000" },
    });
    const slow = send(gateway, { body: formOf([HEAD, "hello", TAIL], { pause: 10_000 }) });
    await pass(21_000);
    const refused = send(gateway);
    await pass(5_000);
    expect((await refused).status).toBe(429);
    await pass(60_000);
    expect((await slow).status).toBe(200);
  });
});

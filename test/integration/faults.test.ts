import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultUpstream, type Plan, refusedUrl } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { rawChat } from "../support/raw-client.ts";
import { ON_DENO } from "../support/runtime.ts";

const DRIVERS = [
  ["sessions", "", [{ email: "one@sandbox.test", password: "sandbox" }]],
  ["openai", "/v1", [{ token: "backend-key" }]],
  ["anthropic", "", [{ token: "backend-key" }]],
] as const;
/** A driver sees the same bytes on both runtimes: one of each way (translated and native) shows that. */
const drivers = DRIVERS.filter(([driver]) => !(ON_DENO && driver === "anthropic"));

async function start(
  driver: string,
  baseUrl: string,
  accounts: readonly unknown[],
  timeouts: Record<string, string> = {
    // Long enough for a busy machine.
    FIRST_BYTE_TIMEOUT_MS: "2000",
    ANSWER_TIMEOUT_MS: "2000",
    IDLE_TIMEOUT_MS: "1500",
    KEEP_ALIVE_MS: "200",
  },
): Promise<Gateway> {
  return startGateway({
    vars: {
      ...timeouts,
      PROVIDER_DRIVER: driver,
      PROVIDER_BASE_URL: baseUrl,
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: ["sk-dev"],
        accounts,
        runtime: { account_max_inflight: 200 },
        history: { limit: 0 },
      }),
    },
  });
}

function ask(gateway: Gateway, stream: boolean): Promise<Response> {
  return gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content: "hello" }] }),
  });
}

/** What a caller got: the status and code of an error, or the text. A stream's error event counts as its code. */
async function outcome(gateway: Gateway, stream: boolean): Promise<string> {
  const response = await ask(gateway, stream);
  const text = await response.text();
  if (!stream || response.status !== 200) {
    const body: { error?: { code: string }; choices?: { message: { content: string } }[] } = JSON.parse(text);
    return body.error === undefined
      ? `${body.choices?.[0]?.message.content}`
      : `${response.status} ${body.error.code}`;
  }
  // A native stream has the line breaks of the provider.
  const items = text.split(/\r?\n\r?\n/).filter((item) => item.startsWith("data: {"));
  const chunks: {
    error?: { code: string };
    choices?: { delta: { content?: string }; finish_reason: unknown }[];
  }[] = items.map((item) => JSON.parse(item.slice(6)));
  const failed = chunks.find(({ error }) => error !== undefined);
  if (failed !== undefined) {
    expect(text, "a failure must not look like success").not.toMatch(/\[DONE\]|"finish_reason":"/);
    return `event ${failed.error?.code}`;
  }
  expect(text).toContain("[DONE]");
  return chunks.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("");
}

/** A client that asks for a stream and reads none of it by itself. */
async function neverReading(gateway: Gateway): Promise<Socket> {
  const messages = [{ role: "user", content: "hello" }];
  return rawChat(gateway, JSON.stringify({ model: "gpt-4o", stream: true, messages }), { reads: false });
}

async function inUse(gateway: Gateway): Promise<number> {
  const response = await gateway.fetch("/admin/queue/status", { headers: { authorization: "Bearer admin" } });
  const status: { in_use: number } = await response.json();
  return status.in_use;
}

describe.each(drivers)("a failing upstream, driver %s", (driver, path, accounts) => {
  let upstream: FaultUpstream;
  let gateway: Gateway;

  beforeAll(async () => {
    upstream = await FaultUpstream.start();
    gateway = await start(driver, upstream.url + path, accounts);
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const text = "one two three four";
  const long = "la ".repeat(600);
  /** What comes in pieces of so few bytes takes longer than `ANSWER_TIMEOUT_MS`. */
  const slowly = { writeSize: 8, eventEvery: 10 };
  const cases: readonly (readonly [name: string, plan: Plan, whole: string, streamed: string])[] = [
    ["never answers", { hang: true }, "503 upstream_timeout", "event upstream_timeout"],
    [
      "falls silent after some events",
      { text, stallAfter: 3 },
      "503 upstream_timeout",
      "event upstream_timeout",
    ],
    ["ends its stream early", { text, cutAt: 130 }, "503 upstream_error", "503|event upstream_error"],
    ["breaks the connection", { text, resetAt: 260 }, "503 upstream_error", "503|event upstream_error"],
    ["sends garbage", { text, garbageAt: 3 }, "503 upstream_error", "event upstream_error"],
    [
      "reports an error in mid-stream",
      { text, errorAt: 3 },
      "503 model_unavailable",
      "event model_unavailable",
    ],
    ["answers 500", { status: 500, code: "oops" }, "503 upstream_error", "503 upstream_error"],
    [
      "answers with HTML",
      { body: "<html>", contentType: "text/html" },
      "503 upstream_error",
      "503 upstream_error",
    ],
    ["dribbles its answer", { text: long, chunks: 20, ...slowly }, "503 upstream_timeout", long],
    [
      "sends comments and nothing else",
      { body: ": still here\n\n".repeat(5_000), contentType: "text/event-stream", ...slowly },
      "503 upstream_timeout",
      "event upstream_timeout",
    ],
    [
      "sends 100 Continue and nothing else",
      { interimForever: true },
      "503 upstream_timeout",
      "event upstream_timeout",
    ],
    ["splits every byte", { text, writeSize: 1 }, text, text],
    ["writes CRLF and comments", { text, crlf: true, comments: true }, text, text],
  ];

  it.each(cases)("%s", async (_name, plan, whole, streamed) => {
    upstream.plan = plan;
    const matches = (expected: string) =>
      expect.stringMatching(new RegExp(`^(?:${expected.replace("503|event", "(?:503|event)")})$`));
    const [one, other] = await Promise.all([outcome(gateway, false), outcome(gateway, true)]);
    expect([one, other]).toEqual([matches(whole), matches(streamed)]);
    expect(await inUse(gateway)).toBe(0);
  });

  // Behind the decoder the way is the same for all drivers.
  it.runIf(driver === "sessions")("a reader that takes a byte now and then loses its slot", async () => {
    upstream.plan = { text: "la ".repeat(5_000_000), chunks: 1_000 };
    // It takes a busy machine a while to make so long an answer.
    const patient = await start(driver, upstream.url + path, accounts, {
      FIRST_BYTE_TIMEOUT_MS: "20000",
      IDLE_TIMEOUT_MS: "500",
    });
    const socket = await neverReading(patient);
    const sips = setInterval(() => socket.read(1), 100);
    try {
      await expect.poll(() => inUse(patient), { interval: 20 }).toBe(1);
      await expect.poll(() => inUse(patient), { timeout: 15_000 }).toBe(0);
    } finally {
      clearInterval(sips);
      socket.destroy();
      await patient.close();
    }
  });

  // A runtime may take an orderly close for a half-close: then nothing tells that the client has left.
  it("a client that leaves a whole answer in order frees its slot while the upstream dribbles", async () => {
    upstream.plan = { text: "la ".repeat(20_000), writeSize: 8, eventEvery: 10 };
    const messages = [{ role: "user", content: "hello" }];
    const socket = await rawChat(gateway, JSON.stringify({ model: "gpt-4o", messages }));
    await expect.poll(() => inUse(gateway), { interval: 20, timeout: 15_000 }).toBe(1);
    socket.end();
    await expect.poll(() => inUse(gateway), { interval: 100, timeout: 15_000 }).toBe(0);
    await expect.poll(() => upstream.open, { interval: 100, timeout: 15_000 }).toBe(0);
    socket.destroy();
  }, 60_000);

  it("one line of over 1 MiB arrives whole", async () => {
    upstream.plan = { longLine: 2 * 1024 * 1024 };
    expect((await outcome(gateway, false)).length).toBe(2 * 1024 * 1024);
  });
});

describe.each(drivers)("a dead upstream, driver %s", (driver, path, accounts) => {
  it("is a 503 that leaks nothing", async () => {
    const address = await refusedUrl();
    // The first request of a gateway may take longer than a short keep-alive, after which an error is an event of the stream.
    const gateway = await start(driver, address + path, accounts, {});
    try {
      const response = await ask(gateway, true);
      const body = await response.text();
      expect([response.status, JSON.parse(body).error.code]).toEqual([503, "upstream_unavailable"]);
      expect(body).not.toContain(new URL(address).port);
      expect(await inUse(gateway)).toBe(0);
    } finally {
      await gateway.close();
    }
  });
});

describe("100 concurrent requests with an expired token", () => {
  it("sign in once", async () => {
    const upstream = await FaultUpstream.start({ text: "hello" });
    const account = { email: "one@sandbox.test", password: "sandbox" };
    const gateway = await start("sessions", upstream.url, [account], {});
    try {
      expect(await outcome(gateway, false)).toBe("hello");
      expect(upstream.signIns).toBe(1);
      upstream.expireTokens();
      const answers = await Promise.all(Array.from({ length: 100 }, () => outcome(gateway, false)));
      expect(new Set(answers)).toEqual(new Set(["hello"]));
      expect(upstream.signIns).toBe(2);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
});

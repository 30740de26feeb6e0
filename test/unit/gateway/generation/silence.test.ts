import { describe, expect, test } from "vitest";
import { BodyReader } from "../../../support/body-reader.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { type MemoryGateway, managed, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import {
  beginsThen,
  completionsScript,
  events,
  says,
  saysPart,
  thinksOnly,
} from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

/** One account, so there is no failover. */
const ONE = { accounts: [accountNamed("one@test")] };
const TIMEOUT = { status: 503, code: "upstream_timeout" };

/** Expects a whole answer to fail with a timeout after this time, and not before. */
async function expectTimeoutAfter(milliseconds: number, run: GenerationRun): Promise<void> {
  const failed = expect(run.complete()).rejects.toMatchObject(TIMEOUT);
  await pass(milliseconds - 1);
  expect(run.outcomes).toEqual([]);
  await pass(1);
  await failed;
}

describe("a provider that is silent before its first byte", () => {
  test.each<[string, Reply]>([
    ["never answers", "hang"],
    ["answers with headers and then nothing", { body: ["silence"] }],
    ["sends comments at last, but late", { late: 120_001, reply: says("Hi") }],
  ])("fails after 120 s if it %s", async (_, reply) => {
    const gateway = await createGateway({ turns: [reply], config: ONE });
    const run = new GenerationRun(gateway);
    await expectTimeoutAfter(120_000, run);
    expect(run.outcomes).toMatchObject([{ status: "error", code: "upstream_timeout" }]);
    expect(gateway.turns[0]?.outcome).toBe("cancelled");
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test("has the same time for its follow-up, and for each continuation", async () => {
    const slow = (reply: Reply): Reply => ({ late: 100_000, reply });
    const gateway = await createGateway({
      turns: [slow(thinksOnly()), slow(saysPart("One, ")), slow(says("two."))],
    });
    const run = new GenerationRun(gateway).complete();
    await pass(300_000);
    expect(await run).toMatchObject({ text: "One, two." });
  });

  test("fails, too, if it should create a session", async () => {
    const gateway = await createGateway({
      config: ONE,
      other: ({ path }) => (path === "/api/sessions" ? "hang" : undefined),
    });
    await expectTimeoutAfter(120_000, new GenerationRun(gateway));
  });

  test("fails after the time that the deployment sets", async () => {
    const gateway = await createGateway({
      turns: ["hang"],
      config: ONE,
      env: { FIRST_BYTE_TIMEOUT_MS: "5000" },
    });
    await expectTimeoutAfter(5_000, new GenerationRun(gateway));
  });
});

describe("a provider that is asked for a whole answer", () => {
  const silent = async () => {
    const upstream = new ScriptedUpstream(completionsScript({ turns: ["hang"] }));
    return createGateway({
      upstream,
      env: { PROVIDER_DRIVER: "openai" },
      config: { accounts: [{ token: "key" }, { token: "other" }] },
    });
  };

  test("may be silent for 600 s, and then fails without another attempt", async () => {
    await expectTimeoutAfter(600_000, new GenerationRun(await silent()));
  });

  test("ends when its client leaves", async () => {
    const gateway = await silent();
    const run = new GenerationRun(gateway);
    const failed = expect(run.complete()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    run.leave();
    await failed;
    expect(gateway.upstream.asked.at(-1)?.outcome).toBe("cancelled");
  });
});

describe("a provider that falls silent within its answer", () => {
  test("fails after 60 s, although its connection is open", async () => {
    // No keep-alive is due in the moment in which it fails.
    const env = { KEEP_ALIVE_MS: "11000" };
    const gateway = await createGateway({ turns: [beginsThen("One", "silence")], env });
    const run = new GenerationRun(gateway);
    const reader = new BodyReader(await run.stream());
    await pass(59_999);
    expect(reader.state).toBe("open");
    await pass(1);
    expect(reader).toMatchObject({ text: "^One~~~~~!upstream_timeout", state: "ended" });
    expect(run.outcomes).toMatchObject([{ status: "error", code: "upstream_timeout", statusCode: 503 }]);
    expect(gateway.turns[0]?.outcome).toBe("cancelled");
  });

  test("does not fail while it sends something, even comments", async () => {
    const pieces = Array.from({ length: 10 }, () => [{ pause: 50_000 }, ": still here\n\n"]).flat();
    const [start = "", ...rest] = events({ text: "Hi", chunks: 1 });
    const gateway = await createGateway({ turns: [{ body: [start, ...pieces, ...rest] }] });
    const run = new GenerationRun(gateway).complete();
    await pass(500_000);
    expect(await run).toMatchObject({ text: "Hi" });
  });
});

describe("a provider that never ends its answer", () => {
  const COMMENT = ": still here\n\n";
  const WORD = 'event: text\ndata: {"text":"la "}\n\n';
  const THOUGHT = 'event: reasoning\ndata: {"text":"hm "}\n\n';
  /** An answer that begins and then sends one piece a second for 700 seconds. */
  const dribble = (piece: string): Reply => ({
    body: [
      ...events({ text: "One", chunks: 1 }).slice(0, 2),
      ...Array.from({ length: 700 }, () => [{ pause: 1_000 }, piece]).flat(),
      "silence",
    ],
  });

  test.each([
    ["text", WORD],
    ["reasoning", THOUGHT],
    ["comments", COMMENT],
  ])("fails 600 s after a request for a whole answer, although it sends %s", async (_, piece) => {
    const gateway = await createGateway({ turns: [dribble(piece)], config: ONE });
    const run = new GenerationRun(gateway);
    await expectTimeoutAfter(600_000, run);
    expect(gateway.turns[0]?.outcome).toBe("cancelled");
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("gets no additional time for follow-ups and continuations of a whole answer", async () => {
    const slow = (reply: Reply): Reply => ({ late: 90_000, reply });
    const parts = Array.from({ length: 5 }, () => slow(saysPart("la ")));
    const gateway = await createGateway({
      turns: [slow(thinksOnly()), ...parts, slow(says("end."))],
      config: ONE,
    });
    await expectTimeoutAfter(600_000, new GenerationRun(gateway));
  });

  test("is replaced by another account, which has the full time again", async () => {
    const env = { ANSWER_TIMEOUT_MS: "50000" };
    const late: Reply = { late: 40_000, reply: says("Hi") };
    const gateway = await createGateway({ turns: [dribble(WORD), late], env });
    const answer = new GenerationRun(gateway).complete();
    await pass(90_000);
    expect(await answer).toMatchObject({ text: "Hi" });
  });

  test("fails as a stream 600 s after its last content, while only comments arrive", async () => {
    const gateway = await createGateway({ turns: [dribble(COMMENT)], config: ONE });
    const run = new GenerationRun(gateway);
    const reader = new BodyReader(await run.stream());
    await pass(599_999);
    expect(reader.state).toBe("open");
    await pass(1);
    expect(reader).toMatchObject({
      state: "ended",
      text: expect.stringMatching(/^\^One~*!upstream_timeout$/),
    });
    expect(gateway.turns[0]?.outcome).toBe("cancelled");
  });

  test("may continue a stream as long as content arrives", async () => {
    const gateway = await createGateway({ turns: [dribble(WORD)], config: ONE });
    const reader = new BodyReader(await new GenerationRun(gateway).stream());
    await pass(700_500);
    expect(reader).toMatchObject({ state: "open", text: `^One${"la ".repeat(700)}` });
    await pass(60_000);
    expect(reader.state).toBe("ended");
  });
});

describe("a silent stream carries a keep-alive", () => {
  test("every 10 s while the provider is silent, and none while it sends text", async () => {
    const [start = "", first = "", ...rest] = events({ text: "One two", chunks: 2 });
    const gateway = await createGateway({
      turns: [{ late: 25_000, reply: { body: [start, first, { pause: 12_000 }, ...rest] } }],
    });
    const work = new GenerationRun(gateway).stream();
    await pass(9_999);
    await pass(1);
    const reader = new BodyReader(await work);
    await pass(40_000);
    expect(reader).toMatchObject({ text: "~~^One ~two.stop", state: "ended" });
  });

  test("while its request waits for an account, after which a refusal is an error event", async () => {
    const gateway = await createGateway({
      turns: ["hang"],
      env: { QUEUE_TIMEOUT_MS: "35000" },
      config: { runtime: { account_max_inflight: 1 } },
    });
    const busy = new GenerationRun(gateway, { caller: managed("one@test") });
    const failed = expect(busy.complete()).rejects.toMatchObject(TIMEOUT);
    await pass(1_000);
    const run = new GenerationRun(gateway, { caller: managed("one@test") });
    const work = run.stream();
    await pass(10_000);
    const reader = new BodyReader(await work);
    await pass(25_000);
    expect(reader).toMatchObject({ text: "~~~!concurrency_limit_exceeded", state: "ended" });
    expect(run.outcomes).toMatchObject([{ status: "error", statusCode: 429, usage: null }]);
    await pass(120_000);
    await failed;
  });

  test("as often as the deployment sets", async () => {
    const gateway = await createGateway({
      turns: [{ late: 10_000, reply: says("Hi") }],
      env: { KEEP_ALIVE_MS: "3000" },
    });
    const work = new GenerationRun(gateway).stream();
    await pass(3_000);
    const reader = new BodyReader(await work);
    await gateway.settle();
    expect(reader.text).toBe("~~~^Hi.stop");
  });
});

describe("a client that stops reading", () => {
  /** Starts a stream that nobody reads yet. */
  async function startStream(gateway: MemoryGateway) {
    const run = new GenerationRun(gateway);
    const work = run.stream();
    await pass(1_000);
    return { run, response: await work };
  }

  test.each<[string, Reply, object]>([
    [
      "in the middle",
      { body: [...events({ text: "la ".repeat(50) })] },
      { status: "cancelled", statusCode: 499 },
    ],
    // The outcome is recorded before the answer's end is sent.
    ["at the last word", says("Hi", { chunks: 1 }), { status: "success", statusCode: 200 }],
  ])("releases its slot: %s", async (_, reply, outcome) => {
    const gateway = await createGateway({ turns: [reply] });
    const { run, response } = await startStream(gateway);
    const reader = response.body?.getReader();
    await reader?.read();
    await pass(61_000);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
    expect(run.outcomes).toMatchObject([outcome]);
    // Nor anything else: its line is written although it neither reads nor leaves.
    await gateway.settle();
    await reader?.cancel();
  });

  test("releases its slot, too, if it reads one event a minute", async () => {
    const gateway = await createGateway({ turns: [{ body: [...events({ text: "la ".repeat(50) })] }] });
    const { run, response } = await startStream(gateway);
    const reader = response.body?.getReader();
    for (let minute = 0; minute < 5; minute++) {
      await reader?.read();
      await pass(55_000);
    }
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
    expect(run.outcomes).toMatchObject([{ status: "cancelled", statusCode: 499 }]);
    await gateway.settle();
    await reader?.cancel();
  });

  test("before an answer breaks off gets no error text", async () => {
    const gateway = await createGateway({ turns: [beginsThen("Hi", "silence")] });
    const { run, response } = await startStream(gateway);
    const reader = response.body?.getReader();
    await reader?.read();
    await pass(125_000);
    expect(run.outcomes).toMatchObject([{ status: "error", code: "upstream_timeout" }]);
    await gateway.settle();
    await reader?.cancel();
  });

  test("during a long text gets all of it if it reads on", async () => {
    const long = "la ".repeat(40_000);
    const gateway = await createGateway({ turns: [{ body: [...events({ text: long, chunks: 1 })] }] });
    const { response } = await startStream(gateway);
    const reader = response.body?.getReader();
    let got = "";
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      got += new TextDecoder().decode(next.value);
      await pass(next.value.length > 1_000 ? 30_000 : 0);
    }
    expect(got).toBe(`^${long}.stop`);
  });

  test("for less than a minute still gets its whole answer", async () => {
    const gateway = await createGateway({ turns: [{ body: [...events({ text: "One two three" })] }] });
    const { response } = await startStream(gateway);
    await pass(55_000);
    expect(await response.text()).toBe("^One two three.stop");
  });
});

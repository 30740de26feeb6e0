import { describe, expect, test } from "vitest";
import type { Plan } from "../../../support/fault-body.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { type MemoryGateway, managed, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { accountOf, beginsThen, events, refuses, says } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const GARBAGE = "event: text\ndata: {not json\n\n";
const SAID = 'event: error\ndata: {"code":"model_unavailable","message":"No model."}\n\n';

/** One account: what happens with others is at the end. */
const ONE = { config: { accounts: [accountNamed("one@test")] } };

/** Failures before the first byte of an answer, and the status and code that the caller gets (docs/contract/errors.md). */
const BEFORE: [string, Reply, number, string][] = [
  ["the provider cannot be reached", "unreachable", 503, "upstream_unavailable"],
  ["it refuses the request", refuses(400, "invalid_request"), 400, "invalid_request"],
  ["it refuses the content", refuses(400, "content_filter"), 400, "content_filter"],
  ["the request is too large for it", refuses(413, "too_large"), 413, "request_too_large"],
  ["it has no such model now", refuses(503, "model_unavailable"), 503, "model_unavailable"],
  ["it fails", refuses(500, "oops"), 503, "upstream_error"],
  ["it answers with no event stream", { json: { ok: true } }, 503, "upstream_error"],
  ["it breaks off at once", { body: ["reset"] }, 503, "upstream_error"],
  ["it ends without a word", { body: [] }, 503, "upstream_error"],
  ["it says garbage", { body: [GARBAGE] }, 503, "upstream_error"],
  ["it says that it fails", { body: [SAID] }, 503, "model_unavailable"],
];

/** What goes wrong once text has come, and the code of the stream's error event. */
const AFTER: [string, Reply, string][] = [
  ["the connection breaks", beginsThen("One", "reset"), "upstream_error"],
  ["the stream ends without a finish", beginsThen("One"), "upstream_error"],
  ["garbage comes", beginsThen("One", GARBAGE), "upstream_error"],
  ["the provider says that it fails", beginsThen("One", SAID), "model_unavailable"],
  // In one read with the text: that must not be lost.
  [
    "text and failure come together",
    { body: [events({ text: "One", chunks: 1, errorAt: 2 }).join("")] },
    "model_unavailable",
  ],
];

async function expectOutcome(
  gateway: MemoryGateway,
  run: GenerationRun,
  expected: { statusCode: number; code: string },
): Promise<void> {
  expect(run.outcomes).toMatchObject([{ status: "error", finishReason: "", ...expected }]);
  expect(run.context.facts.error).toBe(expected.code);
  const [record] = await gateway.history();
  expect(record).toMatchObject({ status: "error", status_code: expected.statusCode });
  expect(record?.error).not.toBe("");
}

describe("a failure before the first byte is an HTTP status: when", () => {
  test.each(BEFORE)("%s, it is the status of a whole answer", async (_, reply, status, code) => {
    const gateway = await createGateway({ ...ONE, turns: [reply] });
    const run = new GenerationRun(gateway);
    await expect(run.complete()).rejects.toMatchObject({ status, code });
    await expectOutcome(gateway, run, { statusCode: status, code });
    expect(run.outcomes).toMatchObject([{ usage: null }]);
  });

  test.each(BEFORE)("%s, it is the status of a stream, too", async (_, reply, status, code) => {
    const gateway = await createGateway({ ...ONE, turns: [reply] });
    const run = new GenerationRun(gateway);
    await expect(run.stream()).rejects.toMatchObject({ status, code });
    await expectOutcome(gateway, run, { statusCode: status, code });
  });

  test.each(BEFORE)("%s, it does not blame the account", async (_, reply) => {
    const gateway = await createGateway({ ...ONE, turns: [reply] });
    await expect(new GenerationRun(gateway).complete()).rejects.toThrow();
    expect(gateway.turns).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });
});

describe("a failure after the first byte is the stream's error event, and its end: when", () => {
  test.each(AFTER)("%s", async (_, reply, code) => {
    const gateway = await createGateway({ ...ONE, turns: [reply] });
    const run = new GenerationRun(gateway);
    expect(await (await run.stream()).text()).toBe(`^One!${code}`);
    await expectOutcome(gateway, run, { statusCode: 503, code });
    const [record] = await gateway.history();
    expect(record).toMatchObject({ content: "One", response_preview: "One" });
    // The words have been paid for.
    expect(run.outcomes[0]?.usage?.completion).toBeGreaterThan(0);
  });

  test.each(AFTER)("%s, a whole answer is a 503, and not a partial answer", async (_, reply, code) => {
    const gateway = await createGateway({ ...ONE, turns: [reply] });
    await expect(new GenerationRun(gateway).complete()).rejects.toMatchObject({ status: 503, code });
    expect(gateway.turns).toHaveLength(1);
  });
});

describe("a provider that fails on one account", () => {
  /** What goes wrong with the first account; 400s and the like are the request's own. */
  const passing = BEFORE.filter(([, , status]) => status === 503);

  test.each(passing)("because %s, answers with the next account", async (_, reply) => {
    const gateway = await createGateway({ turns: [reply, says("Here.")] });
    const run = new GenerationRun(gateway);
    expect(await run.complete()).toMatchObject({ text: "Here." });
    expect(gateway.turns.map(accountOf)).toEqual(["one@test", "two@test"]);
    expect(run.context.facts.retries).toBe(1);
    const [record] = await gateway.history();
    expect(record).toMatchObject({
      account: "two@test",
      attempts: 2,
      tried: [
        {
          account: "one@test",
          reason: expect.any(String),
          message: expect.any(String),
          at: expect.any(Number),
        },
      ],
    });
  });

  test.each(passing)(
    "because %s, streams with the next account without a trace of the failure",
    async (_, reply) => {
      const gateway = await createGateway({ turns: [reply, says("Here.")] });
      expect(await (await new GenerationRun(gateway).stream()).text()).toBe("^Here..stop");
    },
  );

  test.each(AFTER)("when %s, gives a whole answer with the next account", async (_, reply) => {
    const gateway = await createGateway({ turns: [reply, says("Here.")] });
    const run = new GenerationRun(gateway);
    expect(await run.complete()).toMatchObject({ text: "Here.", sessionId: "session-2" });
    expect(await gateway.history()).toMatchObject([{ content: "Here." }]);
  });

  test("within a call, begins a new answer without parts of the first", async () => {
    const half = '<|TCML|tool_calls><|TCML|invoke name="find"><|TCML|parameter name="q">ca';
    const gateway = await createGateway({ turns: [beginsThen(half, "reset"), says("Here.")] });
    const tools = [{ name: "find", description: "", parameters: { type: "object" } }];
    const run = new GenerationRun(gateway, { conversation: { tools } });
    expect(await run.complete()).toMatchObject({ text: "Here.", toolCalls: [] });
  });

  test("by silence is asked with the next account", async () => {
    const gateway = await createGateway({ turns: ["hang", says("Here.")] });
    const run = new GenerationRun(gateway).complete();
    await pass(120_000);
    expect(await run).toMatchObject({ text: "Here." });
    expect(gateway.turns.map(({ outcome }) => outcome)).toEqual(["cancelled", "done"]);
  });

  test("and on two others is an error", async () => {
    const accounts = ["a", "b", "c", "d"].map((name) => accountNamed(name));
    const gateway = await createGateway({ turns: [refuses(500, "oops")], config: { accounts } });
    const run = new GenerationRun(gateway);
    await expect(run.complete()).rejects.toMatchObject({ status: 503, code: "upstream_error" });
    expect(gateway.turns.map(accountOf)).toEqual(["a", "b", "c"]);
    const [record] = await gateway.history();
    expect(record?.tried.map(({ account, reason }) => [account, reason])).toEqual([
      ["a", "server_error"],
      ["b", "server_error"],
      ["c", "server_error"],
    ]);
  });
});

describe("a provider that is down", () => {
  const accounts = ["a", "b", "c", "d"].map((name) => accountNamed(name));
  const ask = (gateway: MemoryGateway) => new GenerationRun(gateway).complete();

  test("costs the first request three attempts, and later ones one attempt", async () => {
    const gateway = await createGateway({ turns: [refuses(500, "oops")], config: { accounts } });
    const attempts: number[] = [];
    for (let request = 0; request < 5; request += 1) {
      const before = gateway.turns.length;
      await expect(ask(gateway)).rejects.toMatchObject({ status: 503, code: "upstream_error" });
      attempts.push(gateway.turns.length - before);
    }
    expect(attempts).toEqual([3, 1, 1, 1, 1]);
  });

  test("is tried by one request, and others get its failure after one second", async () => {
    let healthy = false;
    const oops = refuses(500, "oops");
    const slow: Reply = { late: 5_000, reply: says("Here.", { chunks: 1 }) };
    const gateway = await createGateway({ turns: () => (healthy ? slow : oops), config: { accounts } });
    for (let request = 0; request < 2; request += 1) await expect(ask(gateway)).rejects.toThrow();
    healthy = true;
    const trial = ask(gateway);
    await pass(1);
    const before = gateway.turns.length;
    const other = expect(ask(gateway)).rejects.toMatchObject({ status: 503, code: "upstream_error" });
    await pass(1_000);
    await other;
    expect(gateway.turns).toHaveLength(before);
    await pass(5_000);
    expect(await trial).toMatchObject({ text: "Here." });
    const all = Promise.all([ask(gateway), ask(gateway)]);
    await pass(5_000);
    expect(await all).toMatchObject([{ text: "Here." }, { text: "Here." }]);
  });

  test("for a moment causes no errors: other requests wait for the one that tries", async () => {
    let lost = 6;
    const turns = () => (lost-- > 0 ? "unreachable" : { late: 200, reply: says("Here.") });
    const gateway = await createGateway({ turns, config: { accounts } });
    for (let request = 0; request < 2; request += 1) await expect(ask(gateway)).rejects.toThrow();
    lost = 0;
    const all = Promise.all(Array.from({ length: 12 }, () => ask(gateway)));
    await pass(5_000);
    expect((await all).map(({ text }) => text)).toEqual(Array(12).fill("Here."));
    await gateway.expectIdle();
  });

  test("works again as soon as an answer begins", async () => {
    let healthy = false;
    const [start = "", first = "", ...rest] = events({ text: "One two", chunks: 2 });
    const long: Reply = { body: [start, first, { pause: 30_000 }, ...rest] };
    const gateway = await createGateway({
      turns: () => (healthy ? long : refuses(500, "oops")),
      config: { accounts },
    });
    for (let request = 0; request < 2; request += 1) await expect(ask(gateway)).rejects.toThrow();
    healthy = true;
    const trial = ask(gateway);
    await pass(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ outages: [] });
    await pass(30_000);
    expect(await trial).toMatchObject({ text: "One two" });
  });

  test("is reported to a caller who pins an account", async () => {
    const gateway = await createGateway({ turns: [refuses(500, "oops")], config: { accounts } });
    for (let request = 0; request < 2; request += 1) await expect(ask(gateway)).rejects.toThrow();
    const before = gateway.turns.length;
    const pinned = new GenerationRun(gateway, { caller: managed("d") });
    await expect(pinned.complete()).rejects.toMatchObject({ status: 503, code: "upstream_error" });
    expect(gateway.turns).toHaveLength(before + 1);
  });
});

describe("an account that is refused within an answer", () => {
  const refusedBehind = (plan: Plan): Reply => ({
    body: events({ ...plan, code: "rate_limited", errorAt: 2 }),
  });

  test("is not replaced after text was sent", async () => {
    const gateway = await createGateway({
      turns: [refusedBehind({ text: "One two", chunks: 2 }), says("Three")],
    });
    const run = new GenerationRun(gateway);
    expect(await (await run.stream()).text()).toBe("^One !upstream_rate_limited");
    expect(gateway.turns).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      cooldowns: [{ kind: "rate_limited" }],
    });
  });

  test("is replaced if only reasoning was sent", async () => {
    const gateway = await createGateway({
      turns: [refusedBehind({ reasoning: "Hm. ", text: "One" }), says("Three")],
    });
    const run = new GenerationRun(gateway, { conversation: { thinking: true, showReasoning: true } });
    expect(await (await run.stream()).text()).toBe("^(Hm. )Three.stop");
    expect(gateway.turns.map(accountOf)).toEqual(["one@test", "two@test"]);
    expect(run.context.facts.retries).toBe(1);
  });
});

describe("without a provider", () => {
  test("a generation is a 503 that names the missing variable, and takes no slot", async () => {
    const gateway = await createGateway({ env: { PROVIDER_BASE_URL: "" } });
    const run = new GenerationRun(gateway);
    const refused = {
      status: 503,
      code: "upstream_unavailable",
      message: expect.stringContaining("PROVIDER_BASE_URL"),
    };
    await expect(run.complete()).rejects.toMatchObject(refused);
    await expect(new GenerationRun(gateway).stream()).rejects.toMatchObject(refused);
    expect(run.outcomes).toMatchObject([{ status: "error", code: "upstream_unavailable", usage: null }]);
  });
});

describe("a provider that keeps its connection open after the end of its answer", () => {
  test("does not delay the caller or the slot, and is disconnected soon", async () => {
    const gateway = await createGateway({ turns: [{ body: [...events({ text: "Hi" }), "silence"] }] });
    expect(await new GenerationRun(gateway).complete()).toMatchObject({ text: "Hi" });
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
    expect(gateway.turns).toMatchObject([{ outcome: "open" }]);
    await pass(200);
    expect(gateway.turns).toMatchObject([{ outcome: "cancelled" }]);
  });
});

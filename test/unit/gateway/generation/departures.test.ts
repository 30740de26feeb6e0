import { describe, expect, test } from "vitest";
import { BodyReader } from "../../../support/body-reader.ts";
import { GenerationRun, type RunOptions, SHORTHAND } from "../../../support/generation-run.ts";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  managed,
  pass,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { beginsThen, events, says, thinksOnly } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const ONE_SLOT = { accounts: [accountNamed("one@test")], runtime: { account_max_inflight: 1 } };

/** A moment of a generation at which its client may leave. */
interface Stage {
  readonly name: string;
  readonly gateway?: MemoryGatewayOptions;
  readonly run?: RunOptions;
  /** Another request holds the only slot. */
  readonly busy?: boolean;
  /** Requests that the provider has got by then, signing in aside. */
  readonly asked: readonly RegExp[];
}

const SESSION = /\/api\/sessions$/;
const TURN = /\/turns$/;
const image = { type: "image" as const, source: { kind: "url" as const, url: "https://pictures.example/a" } };

const STAGES: readonly Stage[] = [
  {
    name: "while an attachment is fetched for it",
    gateway: {
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
        }),
    },
    run: {
      conversation: { model: "provider-v4-vision", messages: [{ role: "user", parts: [image] }] },
    },
    asked: [],
  },
  { name: "while it waits for an account", gateway: { config: ONE_SLOT }, busy: true, asked: [] },
  {
    name: "while the account signs in",
    gateway: { other: ({ path }) => (path === "/api/login" ? "hang" : undefined) },
    asked: [],
  },
  {
    name: "while its session is made",
    gateway: { other: ({ path }) => (path === "/api/sessions" ? "hang" : undefined) },
    asked: [SESSION],
  },
  { name: "before the answer begins", gateway: { turns: ["hang"] }, asked: [SESSION, TURN] },
  {
    name: "while the model thinks",
    gateway: { turns: [{ body: [...events({ reasoning: "Hm.", text: "" }).slice(0, 2), "silence"] }] },
    asked: [SESSION, TURN],
  },
  {
    name: "in the middle of the answer",
    gateway: { turns: [beginsThen("One", "silence")] },
    asked: [SESSION, TURN],
  },
  {
    name: "during the follow-up of an empty answer",
    gateway: { turns: [thinksOnly(), "hang"] },
    asked: [SESSION, TURN, TURN],
  },
  {
    name: "on the other account",
    gateway: { turns: [thinksOnly(), thinksOnly(), "hang"] },
    asked: [SESSION, TURN, TURN, SESSION, TURN],
  },
];

/** A generation that has come to a stage; the account's first request is signed in. */
async function at({
  gateway: options = {},
  run,
  busy = false,
}: Stage): Promise<[MemoryGateway, GenerationRun]> {
  const turns = options.turns ?? [says("Hi")];
  const gateway = await createGateway({
    ...options,
    turns: busy ? [{ late: 30_000, reply: says("Busy.") }] : turns,
  });
  if (busy) gateway.waitUntil(new GenerationRun(gateway).complete());
  await pass(10);
  gateway.upstream.asked.length = 0;
  return [gateway, new GenerationRun(gateway, run)];
}

async function expectCancelled(gateway: MemoryGateway, run: GenerationRun, stage: Stage): Promise<void> {
  expect(run.outcomes).toMatchObject([{ status: "cancelled", statusCode: 499, code: "request_cancelled" }]);
  const asked = gateway.upstream.asked.filter(({ path }) => path !== "/api/login");
  expect(asked.map(({ path }) => path)).toEqual(stage.asked.map((path) => expect.stringMatching(path)));
  expect(gateway.upstream.asked.filter(({ outcome }) => outcome === "open")).toEqual([]);
  const { in_use: inUse, waiting, cooldowns } = await gateway.platform.accounts.getStatus();
  expect({ inUse, waiting, cooldowns }).toEqual({ inUse: stage.busy ? 1 : 0, waiting: 0, cooldowns: [] });
}

describe("a client that leaves ends its request and blames no account:", () => {
  test.each(STAGES)("$name, a whole answer", async (stage) => {
    const [gateway, run] = await at(stage);
    const failed = expect(run.complete()).rejects.toMatchObject({ status: 499, code: "request_cancelled" });
    await pass(1_000);
    run.leave();
    await pass(10_000);
    await failed;
    await expectCancelled(gateway, run, stage);
  });

  test.each(STAGES)("$name, a stream", async (stage) => {
    const [gateway, run] = await at(stage);
    const work = run.stream();
    work.then(
      (response) => new BodyReader(response),
      () => undefined,
    );
    await pass(1_000);
    run.leave();
    await pass(10_000);
    await expectCancelled(gateway, run, stage);
  });
});

describe("a client that left before its request began", () => {
  test.each(["complete", "stream"] as const)("costs nothing: %s", async (way) => {
    const gateway = await createGateway();
    const run = new GenerationRun(gateway);
    run.leave();
    await expect(run[way]()).rejects.toMatchObject({ status: 499 });
    expect(gateway.upstream.asked).toEqual([]);
    expect(run.outcomes).toMatchObject([{ status: "cancelled" }]);
  });
});

describe("a client that leaves while its answer is corrected", () => {
  test("ends the request, and the history says that it left", async () => {
    const gateway = await createGateway({ turns: [says("No JSON."), "hang"] });
    const run = new GenerationRun(gateway, { conversation: { responseFormat: { type: "json" } } });
    const failed = expect(run.complete()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    run.leave();
    await failed;
    expect(run.outcomes).toMatchObject([{ status: "cancelled", usage: { prompt: 7 } }]);
    expect(gateway.turns[1]?.outcome).toBe("cancelled");
  });
});

/** On workerd an orderly close shows only when a write fails. */
describe("a departure that only a failed write reveals", () => {
  const speaks = (...rest: Parameters<typeof beginsThen>[1][]): Reply => beginsThen("One", ...rest);
  const [, second = "", ...end] = events({ text: "One, two", chunks: 1 });

  const cancelled = { status: "cancelled", statusCode: 499 };

  test.each<[string, Reply, number, object]>([
    ["a keep-alive while the provider is silent", speaks("silence"), 10_000, cancelled],
    ["the next text", speaks({ pause: 5_000 }, second, "silence"), 5_000, cancelled],
    // The outcome is recorded before the answer's end is sent.
    ["the last event", speaks({ pause: 5_000 }, ...end), 5_000, { status: "success", statusCode: 200 }],
  ])("is noticed by %s, and is no failure", async (_, reply, after, outcome) => {
    const gateway = await createGateway({ turns: [reply] });
    const run = new GenerationRun(gateway);
    const reader = new BodyReader(await run.stream());
    await pass(1_000);
    expect(reader.text).toBe("^One");
    await reader.leave();
    await pass(after);
    expect(run.outcomes).toMatchObject([outcome]);
    expect(gateway.turns[0]?.outcome).not.toBe("open");
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("does not hide an earlier failure of the provider", async () => {
    const gateway = await createGateway({ turns: [speaks({ pause: 5_000 }, "reset")] });
    const run = new GenerationRun(gateway);
    await new BodyReader(await run.stream()).leave();
    await pass(5_000);
    expect(run.outcomes).toMatchObject([{ status: "error", code: "upstream_error" }]);
  });

  test("is noticed while the request waits, and leaves the queue", async () => {
    const gateway = await createGateway({
      turns: [{ late: 40_000, reply: says("Busy.") }],
      config: ONE_SLOT,
    });
    gateway.waitUntil(new GenerationRun(gateway).complete());
    await pass(100);
    const run = new GenerationRun(gateway, { caller: managed() });
    const work = run.stream();
    await pass(10_000);
    await new BodyReader(await work).leave();
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 1 });
    await pass(10_000);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 0, in_use: 1 });
    expect(run.outcomes).toMatchObject([{ status: "cancelled", statusCode: 499, usage: null }]);
  });

  test("does not prevent storing an answer that was complete", async () => {
    const gateway = await createGateway({ turns: [speaks({ pause: 5_000 }, ...end)] });
    const stored: string[] = [];
    const answer = { ...SHORTHAND, completed: async ({ text }: { text: string }) => void stored.push(text) };
    const run = new GenerationRun(gateway, { answer });
    const reader = new BodyReader(await run.stream());
    await pass(1_000);
    await reader.leave();
    await pass(5_000);
    expect(stored).toEqual(["One"]);
  });
});

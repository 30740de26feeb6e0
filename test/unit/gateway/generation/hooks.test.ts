import { describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { BodyReader } from "../../../support/body-reader.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { beginsThen, refuses, says, saysPart, thinksOnly } from "../../../support/upstream-scripts.ts";

const gateway = useMemoryGateway();

/** What a limit refuses with. */
const LIMIT = new GatewayError(429, "that was the last one for today", { code: "rate_limit_exceeded" });

const WAYS = ["complete", "stream"] as const;

describe("a hook before the slot", () => {
  test.each(WAYS)("is asked before anything is taken, and knows what will be sent: %s", async (way) => {
    const made = await gateway();
    const seen: unknown[] = [];
    const run = new GenerationRun(made, {
      conversation: { messages: [{ role: "user", parts: [{ type: "text", text: "How much?" }] }] },
      beforeSlot: [
        async ({ promptText, caller, conversation }) => {
          const { in_use: inUse } = await made.platform.accounts.getStatus();
          seen.push({ inUse, asked: made.upstream.asked.length, promptText, caller, conversation });
        },
      ],
    });
    await run.out(way);
    expect(seen).toMatchObject([
      {
        inUse: 0,
        asked: 0,
        promptText: expect.stringContaining("How much?"),
        caller: { mode: "managed" },
        conversation: { dialect: "chat-completions" },
      },
    ]);
    expect(run.outcomes).toMatchObject([{ status: "success" }]);
  });

  test.each(WAYS)(
    "that throws is the answer: no slot is taken, the provider is not asked: %s",
    async (way) => {
      const made = await gateway();
      const acquire = vi.spyOn(made.platform.accounts, "acquire");
      const run = new GenerationRun(made, {
        beforeSlot: [
          () => {
            throw LIMIT;
          },
        ],
      });
      await expect(run[way]()).rejects.toBe(LIMIT);
      expect(acquire).not.toHaveBeenCalled();
      expect(made.upstream.asked).toEqual([]);
      expect(run.outcomes).toMatchObject([{ status: "error", code: "rate_limit_exceeded", usage: null }]);
      expect(await made.history()).toMatchObject([{ status: "error", status_code: 429, account: "" }]);
    },
  );

  test("that throws keeps those behind it from being asked", async () => {
    const made = await gateway();
    const asked: string[] = [];
    const run = new GenerationRun(made, {
      beforeSlot: [
        async () => {
          asked.push("first");
          await Promise.resolve();
        },
        async () => {
          asked.push("second");
          throw LIMIT;
        },
        () => {
          asked.push("third");
        },
      ],
    });
    await expect(run.complete()).rejects.toBe(LIMIT);
    expect(asked).toEqual(["first", "second"]);
  });

  test.each([
    [
      "retries, other accounts and continuations",
      {},
      [thinksOnly(), thinksOnly(), saysPart("One "), says("two")],
    ],
    ["a correction", { responseFormat: { type: "json" as const } }, [says("No JSON."), says("{}")]],
  ])("is asked once a request, not again for %s", async (_, conversation, turns) => {
    const made = await gateway({ turns });
    const hook = vi.fn();
    const run = new GenerationRun(made, { conversation, beforeSlot: [hook] });
    await run.complete();
    expect(made.turns).toHaveLength(turns.length);
    expect(hook).toHaveBeenCalledOnce();
    expect(run.outcomes).toHaveLength(1);
  });

  test("that takes its time delays the stream's first byte, which a keep-alive makes up for", async () => {
    const made = await gateway();
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 15_000));
    const work = new GenerationRun(made, { beforeSlot: [slow] }).stream();
    await pass(10_000);
    const reader = new BodyReader(await work);
    await pass(5_000);
    expect(reader.text).toBe("~^Hello from upstream..stop");
  });
});

/** How a generation may go, and what is told of it. */
const OUTCOMES: [string, readonly Reply[], object][] = [
  [
    "succeeds",
    [says("Hi")],
    {
      status: "success",
      statusCode: 200,
      code: "",
      error: "",
      finishReason: "stop",
      usage: { completion: 5 },
    },
  ],
  [
    "succeeds on another account",
    [refuses(429, "rate_limited"), says("Hi")],
    { status: "success", statusCode: 200, finishReason: "stop" },
  ],
  [
    "runs out of length",
    [says("Hi", { finish: "length" })],
    { status: "success", statusCode: 200, finishReason: "length" },
  ],
  [
    "is refused",
    [refuses(400, "invalid_request")],
    { status: "error", statusCode: 400, code: "invalid_request", finishReason: "", usage: null },
  ],
  [
    "breaks off",
    [beginsThen("One", "reset")],
    { status: "error", statusCode: 503, code: "upstream_error", usage: { prompt: expect.any(Number) } },
  ],
  [
    "falls silent",
    [beginsThen("One", "silence")],
    { status: "error", statusCode: 503, code: "upstream_timeout" },
  ],
  [
    "comes up empty",
    [thinksOnly()],
    { status: "error", statusCode: 429, code: "upstream_empty_output", usage: { reasoning: 6 } },
  ],
];

describe("the outcome is told once when a generation", () => {
  describe.each(WAYS)("(%s)", (way) => {
    test.each(OUTCOMES)("%s", async (_, turns, outcome) => {
      const made = await gateway({ turns });
      const run = new GenerationRun(made);
      await run.out(way);
      expect(run.outcomes).toMatchObject([outcome]);
    });

    test("is cancelled, with what was used so far", async () => {
      const made = await gateway({ turns: [beginsThen("One, two, three", "silence")] });
      const run = new GenerationRun(made);
      const work = run[way]();
      work.then(
        () => undefined,
        () => undefined,
      );
      await pass(1_000);
      run.leave();
      await pass(1_000);
      expect(run.outcomes).toMatchObject([{ status: "cancelled", statusCode: 499, finishReason: "" }]);
      expect(run.outcomes[0]?.usage?.completion).toBeGreaterThan(1);
    });
  });

  test("succeeds, before the stream ends", async () => {
    const made = await gateway({ turns: [says("Hi")] });
    const run = new GenerationRun(made);
    const reader = (await run.stream()).body?.getReader();
    while ((await reader?.read())?.done === false);
    expect(run.outcomes).toHaveLength(1);
  });
});

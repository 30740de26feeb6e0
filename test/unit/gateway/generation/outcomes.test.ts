import { describe, expect, test } from "vitest";
import { GenerationRun } from "../../../support/generation-run.ts";
import { pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { beginsThen, refuses, says, thinksOnly } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const WAYS = ["complete", "stream"] as const;

/** The outcomes of a generation, and what its record states of each. */
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

describe("the outcome is recorded once when a generation", () => {
  describe.each(WAYS)("(%s)", (way) => {
    test.each(OUTCOMES)("%s", async (_, turns, outcome) => {
      const gateway = await createGateway({ turns });
      const run = new GenerationRun(gateway);
      await run.out(way);
      expect(run.outcomes).toMatchObject([outcome]);
    });

    test("is cancelled, with its usage so far", async () => {
      const gateway = await createGateway({ turns: [beginsThen("One, two, three", "silence")] });
      const run = new GenerationRun(gateway);
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
    const gateway = await createGateway({ turns: [says("Hi")] });
    const run = new GenerationRun(gateway);
    const reader = (await run.stream()).body?.getReader();
    while ((await reader?.read())?.done === false);
    expect(run.outcomes).toHaveLength(1);
  });
});

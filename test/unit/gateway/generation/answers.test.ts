import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../../../../src/core/conversation/tool.ts";
import { eventBlocks } from "../../../support/fault-body.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { refuses, says, saysPart, thinksOnly } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

/** The whole of a stream, in shorthand. */
async function streamed(run: GenerationRun): Promise<string> {
  return (await run.stream()).text();
}

describe("an answer", () => {
  test("is the provider's text, with the provider's counts", async () => {
    const gateway = await createGateway({ turns: [says("Hello there.")] });
    expect(await new GenerationRun(gateway).complete()).toEqual({
      sessionId: "session-1",
      text: "Hello there.",
      reasoning: "",
      toolCalls: [],
      finishReason: "stop",
      usage: { prompt: 7, completion: 5, reasoning: 2 },
    });
  });

  test("is streamed without delay", async () => {
    const gateway = await createGateway({ turns: [says("Hello there.", { reasoning: "Hm." })] });
    const run = new GenerationRun(gateway, { conversation: { thinking: true, showReasoning: true } });
    expect(await streamed(run)).toBe("^(Hm.)Hello there..stop");
  });

  test("hides reasoning that the caller did not request", async () => {
    const gateway = await createGateway({ turns: [says("Hello.", { reasoning: "Hm." })] });
    expect(await streamed(new GenerationRun(gateway))).toBe("^Hello..stop");
    expect(await new GenerationRun(gateway).complete()).toMatchObject({ reasoning: "" });
  });

  test("has estimated counts if the provider states none", async () => {
    const gateway = await createGateway({ turns: [says("Hello there.", { usage: false })] });
    const { usage } = await new GenerationRun(gateway).complete();
    expect(usage.prompt).toBeGreaterThan(0);
    expect(usage.completion).toBeGreaterThan(0);
  });
});

describe("a message that is incomplete (provider protocol, event `finish`)", () => {
  test("is continued until it is complete, and gives one answer", async () => {
    const gateway = await createGateway({ turns: [saysPart("One, "), saysPart("two, "), says("three.")] });
    expect(await new GenerationRun(gateway).complete()).toMatchObject({
      text: "One, two, three.",
      finishReason: "stop",
      usage: { prompt: 7, completion: 15, reasoning: 6 },
    });
    const first = "/api/sessions/session-1/turns";
    const again = `${first}/message-1/continue`;
    expect(gateway.turns.map(({ path }) => path)).toEqual([first, again, again]);
  });

  test("is continued at most eight times, and then ends as too long", async () => {
    const gateway = await createGateway({ turns: [saysPart("la ")] });
    expect(await streamed(new GenerationRun(gateway))).toBe(`^${"la ".repeat(9)}.length`);
    expect(gateway.turns).toHaveLength(9);
  });

  test("fails if its continuation fails, after the text that was sent", async () => {
    const gateway = await createGateway({ turns: [saysPart("One, "), refuses(503, "model_unavailable")] });
    expect(await streamed(new GenerationRun(gateway))).toBe("^One, !model_unavailable");
  });
});

describe("a request that demands a tool call", () => {
  const tools: ToolDefinition[] = [{ name: "look", parameters: { type: "object", properties: {} } }];
  const demanding = { tools, toolChoice: { type: "required" as const } };
  const call = '<|TCML|tool_calls><|TCML|invoke name="look"></|TCML|invoke></|TCML|tool_calls>';

  test("is a 422 after an answer without one", async () => {
    const gateway = await createGateway({ turns: [says("I would rather not.")] });
    const refused = new GenerationRun(gateway, { conversation: demanding }).complete();
    await expect(refused).rejects.toMatchObject({ status: 422, code: "tool_choice_violation" });
  });

  test("ends its stream with the error if text was already sent", async () => {
    const gateway = await createGateway({ turns: [says("I would rather not.")] });
    const text = await streamed(new GenerationRun(gateway, { conversation: demanding }));
    expect(text).toBe("^I would rather not.!tool_choice_violation");
  });

  test("is satisfied by a call", async () => {
    const gateway = await createGateway({ turns: [says(call)] });
    expect(await streamed(new GenerationRun(gateway, { conversation: demanding }))).toBe(
      "^<look{}>.tool_calls",
    );
  });

  test("reports an answer of reasoning alone as empty, not as a violation", async () => {
    const gateway = await createGateway({ turns: [thinksOnly()] });
    const refused = new GenerationRun(gateway, { conversation: demanding }).complete();
    await expect(refused).rejects.toMatchObject({ status: 429, code: "upstream_empty_output" });
  });
});

describe("citation markers (docs/contract.md, general rule 8)", () => {
  const cited: Reply = {
    body: eventBlocks("sessions", {
      events: [
        ["start", { message_id: "m" }],
        ["search", { results: [{ index: 1, url: "https://a.example/", title: "A" }] }],
        ["text", { text: "So it is [cita" }],
        ["text", { text: "tion:1], they say [citation:7]." }],
        ["finish", { reason: "stop" }],
      ],
    }),
  };

  test("become links in a whole answer, and are removed if they have no target", async () => {
    const gateway = await createGateway({ turns: [cited] });
    expect(await new GenerationRun(gateway).complete()).toMatchObject({
      text: "So it is [1](https://a.example/), they say .",
    });
  });

  test("never appear in a stream", async () => {
    const gateway = await createGateway({ turns: [cited] });
    expect(await streamed(new GenerationRun(gateway))).toBe("^So it is , they say ..stop");
  });

  test("become links in the reasoning of a whole answer, too", async () => {
    const thought: Reply = {
      body: eventBlocks("sessions", {
        events: [
          ["start", { message_id: "m" }],
          ["search", { results: [{ index: 1, url: "https://a.example/", title: "A" }] }],
          ["reasoning", { text: "See [cita" }],
          ["reasoning", { text: "tion:1], not [reference:7]." }],
          ["text", { text: "Yes." }],
          ["finish", { reason: "stop" }],
        ],
      }),
    };
    const gateway = await createGateway({ turns: [thought] });
    const conversation = { thinking: true, showReasoning: true };
    expect(await new GenerationRun(gateway, { conversation }).complete()).toMatchObject({
      reasoning: "See [1](https://a.example/), not .",
      text: "Yes.",
    });
  });
});

describe("a whole answer in a format (docs/contract/decisions.md)", () => {
  const asJson = { conversation: { responseFormat: { type: "json" as const } } };

  test("loses the text around it, without another request", async () => {
    const gateway = await createGateway({ turns: [says('Here you are: {"a": 1}')] });
    expect(await new GenerationRun(gateway, asJson).complete()).toMatchObject({ text: '{"a": 1}' });
    expect(gateway.turns).toHaveLength(1);
  });

  test("is corrected by the model once, with a slot of its own, and counts both answers", async () => {
    const gateway = await createGateway({
      turns: [says("No JSON at all."), says('{"a": 1}')],
      config: { runtime: { account_max_inflight: 1, global_max_inflight: 1 } },
    });
    const run = new GenerationRun(gateway, asJson);
    expect(await run.complete()).toMatchObject({
      text: '{"a": 1}',
      usage: { prompt: 14, completion: 10, reasoning: 4 },
    });
    expect(String(gateway.turns[1]?.json()["prompt"])).toContain("No JSON at all.");
    expect(run.outcomes).toMatchObject([{ status: "success", usage: { prompt: 14 } }]);
    expect(run.context.facts.retries).toBe(1);
  });

  test.each<[string, Reply]>([
    ["is no better", says("Still none.")],
    ["fails", refuses(503, "model_unavailable")],
    ["breaks off", { body: ["reset"] }],
    ["is empty", says("")],
  ])("stays unchanged if its correction %s", async (_, correction) => {
    const gateway = await createGateway({ turns: [says("No JSON at all."), correction] });
    const run = new GenerationRun(gateway, asJson);
    expect(await run.complete()).toMatchObject({ text: "No JSON at all.", finishReason: "stop" });
    expect(run.outcomes).toMatchObject([{ status: "success", error: "" }]);
  });

  test("is not corrected if it was cut", async () => {
    const gateway = await createGateway({ turns: [says('{"a": ', { finish: "length" })] });
    expect(await new GenerationRun(gateway, asJson).complete()).toMatchObject({ finishReason: "length" });
    expect(gateway.turns).toHaveLength(1);
  });

  test("is not checked in a stream", async () => {
    const gateway = await createGateway({ turns: [says("No JSON at all.")] });
    expect(await streamed(new GenerationRun(gateway, asJson))).toBe("^No JSON at all..stop");
    expect(gateway.turns).toHaveLength(1);
  });
});

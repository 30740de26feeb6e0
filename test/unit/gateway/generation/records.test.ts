import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../src/core/conversation/conversation.ts";
import { Recording } from "../../../../src/gateway/history/recording.ts";
import { BodyReader } from "../../../support/body-reader.ts";
import { conversation } from "../../../support/conversations.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { pass, passThrough, START_OF_TIME, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { beginsThen, refuses, says } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** A record that has ended and waits to be sent, and what its conversation was. */
async function ended(gateway: Awaited<ReturnType<typeof createGateway>>) {
  const messages: Message[] = [
    {
      role: "user",
      parts: [
        { type: "text", text: "Look." },
        { type: "image", source: { kind: "inline", mediaType: "image/png", data: "A".repeat(10_000) } },
      ],
    },
  ];
  const recording = new Recording(gateway.context(), conversation({ messages }), {
    attempts: [],
    begunAttempts: 0,
  });
  recording.start("p".repeat(500_000), { rawText: "An image.", rawReasoning: "" });
  await pass(10);
  recording.end({
    status: "success",
    statusCode: 200,
    error: "",
    code: "",
    finishReason: "stop",
    usage: null,
  });
  return { recording, messages: new WeakRef(messages) };
}

describe("the record of a generation", () => {
  test("has the request's end user if texts are stored", async () => {
    const gateway = await createGateway();
    const summaryOf = (history?: "redacted" | "no_texts") => {
      const context = gateway.context();
      if (history !== undefined) context.facts.history = history;
      const recording = new Recording(context, conversation({ options: { user: "ana@example.org" } }), {
        attempts: [],
        begunAttempts: 0,
      });
      recording.start("", { rawText: "", rawReasoning: "" });
      return recording.write().summary;
    };
    expect(summaryOf()).toMatchObject({ end_user: "ana@example.org" });
    expect(summaryOf("redacted").end_user).not.toContain("ana@");
    expect(summaryOf("no_texts")).not.toHaveProperty("end_user");
  });

  test("holds only the archived texts while it waits", async () => {
    const gateway = await createGateway();
    const { recording, messages } = await ended(gateway);
    await pass(0);
    collectGarbage();
    expect(messages.deref()).toBeUndefined();
    expect(recording.characters).toBeGreaterThan(400_000);
    expect(recording.characters).toBeLessThan(401_000);
    recording.markUndelivered();
    expect(recording.write()).toMatchObject({
      summary: { status: "success", request_preview: "Look.", response_preview: "An image." },
      request: { messages: expect.stringContaining("base64_length"), prompt: "p".repeat(400_000) },
      content: "An image.",
    });
    expect(recording.write().request).toBeNull();
    expect(recording.write(true).request).toMatchObject({ prompt: "p".repeat(400_000) });
  });

  test("has its outcome and the beginnings of its texts if too many records wait", async () => {
    const gateway = await createGateway();
    const { recording } = await ended(gateway);
    await pass(0);
    recording.markUndelivered();
    recording.shorten();
    expect(recording.characters).toBeLessThan(5_000);
    expect(recording.write()).toMatchObject({
      summary: { status: "success", request_preview: "Look.", response_preview: "An image." },
      request: { prompt: `${"p".repeat(2_000)}… [398000 characters left out]` },
      content: "An image.",
    });
  });

  test("has caller, usage and duration in the log", async () => {
    const gateway = await createGateway({ turns: [{ late: 2_000, reply: says("Hi") }] });
    const run = new GenerationRun(gateway);
    await run.out("complete");
    expect(run.context.facts).toEqual({
      dialect: "chat-completions",
      operation: "chat",
      model: "provider-v4-flash",
      answerPath: "translated",
      requestedModel: "provider-v4-flash",
      stream: false,
      account: "one@test",
      attempts: 1,
      queueMs: 0,
      firstTokenMs: 2_000,
      promptTokens: 7,
      completionTokens: 5,
      reasoningTokens: 2,
    });
  });

  test("has the whole wait for accounts and the time of the first token in the log", async () => {
    const gateway = await createGateway({
      turns: [
        { late: 30_000, reply: says("Busy.") },
        refuses(429, "rate_limited"),
        { late: 1_000, reply: says("No JSON.") },
        { late: 5_000, reply: says("{}") },
      ],
      config: { runtime: { account_max_inflight: 1, global_max_inflight: 1, account_max_queue: 5 } },
    });
    const busy = new GenerationRun(gateway).complete();
    await pass(10_000);
    const run = new GenerationRun(gateway, { conversation: { responseFormat: { type: "json" } } });
    await run.out("complete");
    expect(await busy).toMatchObject({ text: "Busy." });
    expect(run.context.facts).toMatchObject({ queueMs: 20_000, firstTokenMs: 21_000, retries: 2 });
  });

  test("has question and answer before translation in the history", async () => {
    const gateway = await createGateway({
      turns: [{ late: 2_000, reply: says(" Hi [citation:1] ", { reasoning: "Hm.", chunks: 1 }) }],
    });
    const run = new GenerationRun(gateway);
    await run.out("stream");
    expect(await gateway.history()).toMatchObject([
      {
        created_at: START_OF_TIME,
        completed_at: START_OF_TIME + 2_000,
        elapsed_ms: 2_000,
        status: "success",
        status_code: 200,
        finish_reason: "stop",
        account: "one@test",
        attempts: 1,
        sign_ins: [{ account: "one@test", at: START_OF_TIME, ms: 0 }],
        stream: true,
        content: " Hi [citation:1] ",
        reasoning: "Hm.",
        prompt: expect.stringContaining("Hello"),
        messages: JSON.stringify([{ role: "user", parts: [{ type: "text", text: "Hello" }] }]),
        prompt_tokens: 7,
        completion_tokens: 5,
        reasoning_tokens: 2,
      },
    ]);
  });

  test("has the text so far in the history while it streams", async () => {
    const gateway = await createGateway({ turns: [beginsThen("One", { pause: 10_000 }, "silence")] });
    const run = new GenerationRun(gateway);
    const reader = new BodyReader(await run.stream());
    await pass(5_000);
    const { items } = await gateway.platform.archive.listHistory({ offset: 0, count: 10, q: "" });
    expect(items).toMatchObject([{ status: "streaming", response_preview: "One", completed_at: 0 }]);
    await pass(100_000);
    expect(reader.state).toBe("ended");
    expect(await gateway.history()).toMatchObject([{ status: "error", status_code: 503 }]);
  });

  test("has the tried accounts in the history", async () => {
    const gateway = await createGateway({ turns: [refuses(429, "rate_limited"), says("Hi")] });
    await new GenerationRun(gateway).complete();
    expect(await gateway.history()).toMatchObject([{ attempts: 2, account: "two@test", status: "success" }]);
  });

  test("has no account for a pass-through caller in the history", async () => {
    const gateway = await createGateway();
    await new GenerationRun(gateway, { caller: passThrough() }).complete();
    expect(await gateway.history()).toMatchObject([{ attempts: 1, account: "", status: "success" }]);
  });

  test("is not stored if the history is off", async () => {
    const gateway = await createGateway({ config: { history: { limit: 0 } } });
    await new GenerationRun(gateway).complete();
    expect(await gateway.history()).toEqual([]);
  });
});

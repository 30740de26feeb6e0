import OpenAI, { APIError } from "openai";
import { describe, expect, it } from "vitest";
import {
  canonicalTextCompletion,
  validateCompletionsStream,
} from "../support/stream-validators/completions.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const MODEL = "provider-v4-flash";

const test = useGateway();
const lastTurn = () => test.gateway.sandbox.lastTurn();
const send = (prompt: unknown, extra: Record<string, unknown> = {}) =>
  test.post("/v1/completions", { model: MODEL, prompt, ...extra });

async function whole(prompt: unknown, extra: Record<string, unknown> = {}) {
  const response = await send(prompt, extra);
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return canonicalTextCompletion(JSON.parse(body));
}

async function streamed(prompt: unknown, extra: Record<string, unknown> = {}) {
  const response = await send(prompt, { stream: true, ...extra });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  return validateCompletionsStream(await response.text());
}

describe("POST /v1/completions", () => {
  it.each(["/v1/completions", "/completions"])(
    "answers with the text completion object at %s",
    async (path) => {
      const response = await test.post(path, { model: "gpt-5-codex", prompt: "Once upon a [[say:time]]" });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        id: expect.stringMatching(/^cmpl-\w+$/),
        object: "text_completion",
        created: expect.any(Number),
        model: "provider-v4-pro",
        choices: [{ text: "time", index: 0, logprobs: null, finish_reason: "stop" }],
        usage: {
          prompt_tokens: expect.any(Number),
          completion_tokens: expect.any(Number),
          total_tokens: expect.any(Number),
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: expect.any(Number) },
        },
      });
    },
  );

  it("sends the prompt as the user's only message, with the instruction to continue it", async () => {
    await whole(["Once upon a "]);
    const { prompt, thinking } = await lastTurn();
    expect(prompt).toMatch(/^### System\n\nContinue the user's text[^#]*\n\n### User\n\nOnce upon a \n/);
    expect(thinking).toBe(false);
  });

  it("sends a suffix with the instruction to write the text between", async () => {
    await whole("function add(a, b) {\n", { suffix: "\n} // END-OF-GAP" });
    const { prompt } = await lastTurn();
    expect(prompt).toMatch(
      /between the user's text and the text below[^#]*END-OF-GAP[^#]*### User\n\nfunction/,
    );
  });

  it("shows no reasoning, and treats tool markup as text", async () => {
    const markup = await whole('[[think:hm]][[call:get_weather:{"city":"Rome"}]]');
    expect(markup.text).toContain("get_weather");
    expect(markup.finish).toBe("stop");
    expect((await streamed("[[think:hm]][[say:x]]")).completion.text).toBe("x");
  });

  it("begins with the prompt if echo is set", async () => {
    const prompt = "Once upon a [[say:time]]";
    expect((await whole(prompt, { echo: true })).text).toBe(`${prompt}time`);
    const { events, completion } = await streamed([prompt], { echo: true });
    expect(completion.text).toBe(`${prompt}time`);
    expect(events[0]).toMatchObject({ choices: [{ text: prompt }] });
  });

  it("passes on the options, and ends the text before a stop sequence", async () => {
    const options = { temperature: 0.25, top_p: 0.5, stop: "END", max_tokens: 99, seed: 1, user: "ada" };
    expect((await whole("[[say:One two END three]]", options)).text).toBe("One two ");
    expect(await lastTurn()).toMatchObject({ temperature: 0.25, top_p: 0.5, stop: ["END"] });
  });

  it.each(["length", "content_filter"])(
    "states the provider's reason %s as finish_reason",
    async (reason) => {
      expect((await whole(`[[say:cut of]][[${reason}]]`)).finish).toBe(reason);
      expect((await streamed(`[[say:cut of]][[${reason}]]`)).completion.finish).toBe(reason);
    },
  );

  it.each<[string, Record<string, unknown>, string | null]>([
    ["no prompt", { model: MODEL }, "prompt"],
    ["a null prompt", { model: MODEL, prompt: null }, "prompt"],
    ["no prompts", { model: MODEL, prompt: [] }, "prompt"],
    ["several prompts", { model: MODEL, prompt: ["a", "b"] }, "prompt"],
    ["tokens", { model: MODEL, prompt: [1, 2] }, "prompt"],
    ["arrays of tokens", { model: MODEL, prompt: [[1, 2]] }, "prompt"],
    ["several answers", { model: MODEL, prompt: "x", n: 2 }, "n"],
    ["the best of several answers", { model: MODEL, prompt: "x", best_of: 2 }, "best_of"],
    ["log probabilities", { model: MODEL, prompt: "x", logprobs: 0 }, "logprobs"],
    ["no model", { prompt: "x" }, "model"],
    ["an unknown model", { model: "no-such-model", prompt: "x" }, "model"],
    ["stream not a boolean", { model: MODEL, prompt: "x", stream: "yes" }, "stream"],
  ])("is a 400 that names the field, without asking the provider: %s", async (_name, body, param) => {
    const { turn_count: before } = await test.gateway.sandbox.state();
    const response = await test.post("/v1/completions", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
    expect((await test.gateway.sandbox.state()).turn_count).toBe(before);
  });

  it("answers 401 without a credential", async () => {
    const body = JSON.stringify({ model: MODEL, prompt: "x" });
    const response = await test.fetch("/v1/completions", { method: "POST", body });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
  });

  it("answers 405 to GET", async () => {
    const response = await test.fetch("/completions");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    await response.body?.cancel();
  });
});

describe("Text-completions stream", () => {
  const TEXT = "One two three four five six.";

  it("equals the whole answer, with its counts if requested", async () => {
    const answer = await whole(`[[say:${TEXT}]]`);
    const { events, completion } = await streamed(`[[say:${TEXT}]]`, {
      stream_options: { include_usage: true },
    });
    expect(completion).toEqual(answer);
    expect(events.length).toBeGreaterThan(3);
    expect((await streamed(`[[say:${TEXT}]]`)).completion).toEqual({ ...answer, usage: null });
  });

  it.each(["cut:4", "reset:4", "garbage:4", "error:model_unavailable:4"])(
    "ends with an error item, and never as a success, after a failure in mid-stream ([[%s]])",
    async (directive) => {
      const { completion } = await streamed(`[[big:400]][[chunk:20]][[${directive}]]`);
      expect(completion).toMatchObject({ error: expect.any(String), finish: null, usage: null });
      expect(completion.text).not.toBe("");
    },
  );

  it("is replaced by an HTTP status after a failure before the first token", async () => {
    const response = await send("[[status:503:model_unavailable]]", { stream: true, echo: true });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "model_unavailable" } });
  });
});

describe("the openai SDK, completions", () => {
  const client = () => new OpenAI({ baseURL: `${test.gateway.url}/v1`, apiKey: DEV_KEY, maxRetries: 0 });

  it("creates a completion", async () => {
    const completion = await client().completions.create({
      model: "gpt-4o",
      prompt: "Once [[say: upon a time]]",
    });
    expect(completion.choices[0]?.text).toBe(" upon a time");
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  it("streams a completion", async () => {
    const stream = await client().completions.create({
      model: "gpt-4o",
      prompt: "Count: [[say:one two three four five]]",
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const reasons: (string | null)[] = [];
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.text ?? "";
      for (const { finish_reason } of choices) reasons.push(finish_reason);
      tokens = usage?.total_tokens ?? tokens;
    }
    expect(text).toBe("one two three four five");
    expect(reasons.filter((reason) => reason !== null)).toEqual(["stop"]);
    expect(tokens).toBeGreaterThan(0);
  });

  it("raises errors for refused requests, and for a stream that breaks", async () => {
    const refused = client().completions.create({ model: "gpt-4o", prompt: "x", n: 2 });
    await expect(refused).rejects.toMatchObject({ status: 400, param: "n" });
    const broken = await client().completions.create({
      model: "gpt-4o",
      prompt: "[[big:400]][[chunk:20]][[cut:6]]",
      stream: true,
    });
    const read = async () => {
      for await (const _chunk of broken);
    };
    await expect(read()).rejects.toBeInstanceOf(APIError);
  });
});

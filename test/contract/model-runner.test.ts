import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonicalRunner, validateModelRunnerStream } from "../support/stream-validators/model-runner.ts";
import { useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Tells the weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const MODEL = "provider-v4-flash";

const chat = (text: string, extra: Record<string, unknown> = {}) =>
  test.post("/api/chat", { model: MODEL, messages: [{ role: "user", content: text }], ...extra });

describe("the local-runner listings, open to anyone", () => {
  it("answer GET /api/version", async () => {
    expect(await (await test.fetch("/api/version")).json()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });

  it("contain the canonical models at GET /api/tags", async () => {
    const tag = z.looseObject({
      name: z.string(),
      model: z.string(),
      modified_at: z.iso.datetime(),
      size: z.int(),
      digest: z.string().regex(/^[0-9a-f]{64}$/),
      details: z.looseObject({ family: z.string(), families: z.array(z.string()), format: z.string() }),
    });
    const { models } = z
      .strictObject({ models: z.array(tag) })
      .parse(await (await test.fetch("/api/tags")).json());
    expect(models.map(({ name }) => name)).toContain(MODEL);
    expect(models).toHaveLength(10);
  });

  it("state at GET /api/ps that every model is ready", async () => {
    const { models }: { models: Record<string, unknown>[] } = await (await test.fetch("/api/ps")).json();
    expect(models).toHaveLength(10);
    expect(models[0]).toMatchObject({ name: MODEL, size_vram: 0, expires_at: expect.any(String) });
  });

  const show = (model: Record<string, unknown>) =>
    test.fetch("/api/show", { method: "POST", body: JSON.stringify(model) });

  it.each([
    [MODEL, ["completion", "tools", "thinking", "vision"]],
    ["provider-v4-vision", ["completion", "tools", "thinking", "vision"]],
    ["provider-v4-pro-nothinking", ["completion", "tools", "vision"]],
  ])("state at POST /api/show what %s supports", async (model, capabilities) => {
    const described: unknown = await (await show({ model })).json();
    expect(described).toMatchObject({ id: model, capabilities });
    const { model_info: info } = z
      .looseObject({ model_info: z.looseObject({ "general.architecture": z.string() }) })
      .parse(described);
    expect(info[`${info["general.architecture"]}.context_length`]).toBeGreaterThan(8192);
  });

  it("accept name instead of model, and aliases and tags, at POST /api/show; unknown models are 404", async () => {
    expect(await (await show({ name: "llama3:latest" })).json()).toMatchObject({ id: "llama3:latest" });
    const missing = await show({ model: "no-such-model" });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toEqual({ error: expect.stringContaining("no-such-model") });
  });
});

describe("POST /api/chat and /api/generate", () => {
  it("stream JSON lines by default", async () => {
    const response = await chat("[[think:hm]][[say:one two three four five]]");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const { completion, events } = validateModelRunnerStream(await response.text());
    expect(completion).toMatchObject({ text: "one two three four five", reasoning: "hm", finish: "stop" });
    expect(events.length).toBeGreaterThan(2);
  });

  it.each([
    ["text", "[[say:a longer answer of several words]]", {}],
    [
      "two calls",
      '[[call:get_weather:{"city":"Bonn"}]][[call:get_weather:{"city":"Oslo"}]]',
      { tools: [WEATHER] },
    ],
    ["too little room", "[[say:cut short]][[length]]", {}],
  ])("streams the same as the whole answer at %s", async (_, text, extra) => {
    const stream = validateModelRunnerStream(await (await chat(text, extra)).text());
    const whole = await (await chat(text, { ...extra, stream: false })).json();
    expect(stream.completion).toEqual(canonicalRunner(whole));
  });

  it("complete a prompt at POST /api/generate", async () => {
    const response = await test.post("/api/generate", {
      model: MODEL,
      prompt: "[[say:hello]]",
      think: false,
    });
    const { completion, events } = validateModelRunnerStream(await response.text());
    expect(completion).toMatchObject({ text: "hello", reasoning: "" });
    expect(events[0]).toHaveProperty("response");
    const whole = await test.post("/api/generate", { model: MODEL, prompt: "[[say:hello]]", stream: false });
    expect(await whole.json()).toMatchObject({ response: "hello", done: true, done_reason: "stop" });
  });

  it("load the model if there is no prompt", async () => {
    expect(await (await test.post("/api/chat", { model: MODEL })).json()).toMatchObject({
      done: true,
      done_reason: "load",
    });
    const unloaded = await test.post("/api/generate", { model: MODEL, keep_alive: 0 });
    expect(await unloaded.json()).toMatchObject({ response: "", done: true, done_reason: "unload" });
  });

  it.each([0, "0", "0s"])("unload the model with keep_alive: %j", async (keep_alive) => {
    const unloaded = await test.post("/api/chat", { model: MODEL, messages: [], keep_alive });
    expect(await unloaded.json()).toMatchObject({ done: true, done_reason: "unload" });
  });

  it("writes the text between a prompt and a suffix at POST /api/generate", async () => {
    const response = await test.post("/api/generate", {
      model: MODEL,
      prompt: "def add(a, b):[[echo]]",
      suffix: "    return result",
      system: "You write Python.",
      stream: false,
    });
    expect(await response.json()).toMatchObject({ done_reason: "stop" });
    const { prompt } = await test.gateway.sandbox.lastTurn();
    expect(prompt).toMatch(/You write Python\.[\s\S]*return result[\s\S]*def add/);
  });

  it.each([
    ["template", { template: "### {{ .Prompt }}" }],
    ["context", { context: [1, 2] }],
    ["raw", { raw: true, system: "x" }],
    ["format", { format: "yaml" }],
    ["think", { think: "a lot" }],
  ])("answers 400 for an unsupported field and names it: %s", async (name, extra) => {
    const response = await test.post("/api/generate", { model: MODEL, prompt: "x", ...extra });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.stringContaining(name) });
  });

  it("accepts fields without an effect", async () => {
    const response = await test.post("/api/generate", {
      model: MODEL,
      prompt: "[[say:fine]]",
      template: "{{ .Prompt }}",
      context: [],
      format: "",
      keep_alive: "5m",
      options: { num_ctx: 4096, mirostat: 1 },
      stream: false,
    });
    expect(await response.json()).toMatchObject({ response: "fine", context: [] });
  });

  it("state how long the prompt and the answer took", async () => {
    const body: Record<string, number> = await (await chat("[[say:hello]]", { stream: false })).json();
    const { total_duration: total = 0, prompt_eval_duration: prompt = 0, eval_duration: own = 0 } = body;
    expect(prompt).toBeGreaterThan(0);
    expect(own).toBeGreaterThan(0);
    expect(prompt + own).toBeLessThanOrEqual(total + 1);
  });

  it("require a key, and explain this", async () => {
    const response = await test.fetch("/api/chat", {
      method: "POST",
      body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "x" }] }),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: expect.stringContaining("Authorization") });
  });

  it("end with an error line after a failure in mid-stream", async () => {
    const response = await chat("[[cut:4]][[say:one two three four five six]]");
    expect(validateModelRunnerStream(await response.text()).completion.error).toEqual(expect.any(String));
  });
});

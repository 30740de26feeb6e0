import OpenAI, { AzureOpenAI, toFile } from "openai";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  events,
  formOf,
  json,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

/** Endpoints that need no translation, with the vendor's SDK in front of the gateway and a vendor behind it. */

const MIB = 1024 * 1024;
const TOKEN = "sk-of-the-vendor-0123456789";
const SPEECH = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
const USAGE = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };

const TRANSCRIPTS: Readonly<Record<string, VendorAnswer>> = {
  json: json({ text: "Hello.", usage: { type: "duration", seconds: 3 } }),
  text: { type: "text/plain", body: "Hello.\n" },
  srt: { type: "text/plain", body: "1\n00:00:00,000 --> 00:00:01,000\nHello.\n" },
  vtt: { type: "text/vtt", body: "WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n" },
};

async function answerForm(request: VendorRequest): Promise<VendorAnswer> {
  const form = await formOf(request);
  if (form.get("stream") === "true") {
    return request.path.includes("images")
      ? events([
          { type: "image_edit.partial_image", b64_json: "aQ==" },
          { type: "image_edit.completed", usage: USAGE },
        ])
      : events([
          { type: "transcript.text.delta", delta: "Hel" },
          { type: "transcript.text.done", text: "Hello." },
        ]);
  }
  if (request.path.includes("images"))
    return json({ created: 1, data: [{ b64_json: "aQ==" }], usage: USAGE });
  return TRANSCRIPTS[String(form.get("response_format") ?? "json")] ?? json({}, 400);
}

async function answer(request: VendorRequest): Promise<VendorAnswer> {
  const { path, headers, body } = request;
  if (headers["content-type"]?.startsWith("multipart/form-data")) return answerForm(request);
  if (path.startsWith("/v1/images")) {
    const { stream }: { stream?: boolean } = JSON.parse(body.toString());
    if (stream === true)
      return events([{ type: "image_generation.completed", b64_json: "aQ==", usage: USAGE }]);
    return json({ created: 1, data: [{ b64_json: "aQ==" }], usage: USAGE });
  }
  if (path === "/v1/audio/speech") return { type: "audio/mpeg", body: SPEECH };
  if (path === "/v1/moderations") return json({ id: "modr-1", model: "m", results: [{ flagged: false }] });
  if (path === "/v1/rerank") return json({ results: [{ index: 1, relevance_score: 0.9 }] });
  if (path === "/v1/chat/completions") {
    const message = { role: "assistant", content: "Hi." };
    return json({
      id: "c",
      object: "chat.completion",
      model: "real-name",
      choices: [{ index: 0, message, finish_reason: "stop" }],
    });
  }
  if (path === "/v1/completions")
    return json({
      id: "t",
      object: "text_completion",
      choices: [{ index: 0, text: "Hi.", finish_reason: "stop" }],
    });
  if (path === "/v1/embeddings")
    return json({ data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 1 } });
  return json({ error: { message: `no ${path}` } }, 404);
}

const vendor = await startVendor(answer);
afterAll(() => vendor.close());
beforeEach(() => {
  vendor.received.length = 0;
  vendor.receivedBytes = 0;
  vendor.script = answer;
});

const running = useGateway({
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      callers: { unknown_keys: "refuse" },
      embeddings: { provider: "builtin" },
      accounts: [
        { token: TOKEN, name: "one", provider: "oa", email: "one@vendor.test" },
        { token: `${TOKEN}-2`, name: "two", provider: "oa", email: "two@vendor.test" },
        { token: `${TOKEN}-3`, name: "three", provider: "oa", email: "three@vendor.test" },
      ],
      providers: [
        {
          id: "oa",
          driver: "openai",
          base_url: `${vendor.url}/v1`,
          token: TOKEN,
          models: { mine: "real-name", chat: "real-chat" },
        },
      ],
    }),
  },
});

const client = (path = "/v1") =>
  new OpenAI({ apiKey: DEV_KEY, baseURL: `${running.gateway.url}${path}`, maxRetries: 0 });
const azure = (options: object = {}) =>
  new AzureOpenAI({
    apiKey: DEV_KEY,
    endpoint: running.gateway.url,
    apiVersion: "2025-04-01-preview",
    maxRetries: 0,
    ...options,
  });

const model = "oa/mine";
const sound = () => toFile(new Uint8Array([1, 2, 3, 254]), "a.mp3", { type: "audio/mpeg" });
const image = (name: string) => toFile(new Uint8Array([137, 80]), name, { type: "image/png" });

const onlyRequest = () => {
  const [request, ...others] = vendor.received;
  if (request === undefined || others.length > 0)
    throw new Error(`the vendor got ${vendor.received.length} requests`);
  return request;
};

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

describe.each([["/v1"], ["/openai/v1"], ["/v1beta/openai"]])("the SDK at %s", (base) => {
  it("creates images, whole and streamed", async () => {
    const prompt = "A cat";
    const whole = await client(base).images.generate({ model, prompt });
    expect(whole).toMatchObject({ data: [{ b64_json: "aQ==" }], usage: USAGE });
    expect(JSON.parse(onlyRequest().body.toString())).toEqual({ model: "real-name", prompt });
    const streamed = await client(base).images.generate({ model, prompt, stream: true });
    expect(await collect(streamed)).toMatchObject([{ type: "image_generation.completed" }]);
  });

  it("edits several images", async () => {
    const edited = await client(base).images.edit({
      model,
      prompt: "A hat, ü",
      image: [await image("a.png"), await image("b.png")],
      n: 2,
    });
    expect(edited).toMatchObject({ data: [{ b64_json: "aQ==" }] });
    const form = await formOf(onlyRequest());
    expect(form.get("model")).toBe("real-name");
    expect(form.get("prompt")).toBe("A hat, ü");
    expect(form.get("n")).toBe("2");
    const images = form.getAll("image[]");
    expect(images.map((file) => file instanceof File && file.name)).toEqual(["a.png", "b.png"]);
    const streamed = await client(base).images.edit({
      model,
      prompt: "x",
      image: await image("a.png"),
      stream: true,
    });
    expect((await collect(streamed)).map(({ type }) => type)).toEqual([
      "image_edit.partial_image",
      "image_edit.completed",
    ]);
  });

  it("creates speech", async () => {
    const speech = await client(base).audio.speech.create({ model, voice: "alloy", input: "Hello" });
    expect(new Uint8Array(await speech.arrayBuffer())).toEqual(SPEECH);
  });

  it.each(["json", "text", "srt", "vtt"] as const)("transcribes to %s", async (format) => {
    const request = { model, file: await sound(), response_format: format };
    const transcript: unknown = await client(base).audio.transcriptions.create(request);
    const expected = TRANSCRIPTS[format]?.body;
    expect(transcript).toEqual(format === "json" ? JSON.parse(String(expected)) : expected);
    const form = await formOf(onlyRequest());
    expect(form.get("model")).toBe("real-name");
    const file = form.get("file");
    if (!(file instanceof File)) throw new Error("the form has no file");
    expect([file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]]).toEqual([
      "a.mp3",
      "audio/mpeg",
      [1, 2, 3, 254],
    ]);
  });

  it("transcribes as a stream, and translates", async () => {
    const stream = await client(base).audio.transcriptions.create({
      model,
      file: await sound(),
      stream: true,
    });
    expect((await collect(stream)).map(({ type }) => type)).toEqual([
      "transcript.text.delta",
      "transcript.text.done",
    ]);
    expect(await client(base).audio.translations.create({ model, file: await sound() })).toMatchObject({
      text: "Hello.",
    });
    expect(vendor.received.at(-1)?.path).toBe("/v1/audio/translations");
  });

  it("moderates", async () => {
    expect(await client(base).moderations.create({ model, input: "x" })).toMatchObject({ id: "modr-1" });
  });
});

it.each(["model", "Model", "STREAM"])("refuses a body with a further %s", async (name) => {
  const response = await running.fetch("/v1/moderations", {
    method: "POST",
    headers: { authorization: `Bearer ${DEV_KEY}`, "content-type": "application/json" },
    body: `{"model":"oa/mine","input":"x",${JSON.stringify(name)}:"big"}`,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: name.toLowerCase() } });
  expect(vendor.received).toEqual([]);
});

describe("Azure's SDK", () => {
  const messages = [{ role: "user" as const, content: "Hi" }];

  it.each(["oa/chat", "oa%2Fchat"])("chats with the deployment %s", async (deployment) => {
    // The SDK encodes the name once more.
    const chat = await azure({ deployment: decodeURIComponent(deployment) }).chat.completions.create({
      model: "",
      messages,
    });
    expect(chat.choices[0]?.message.content).toBe("Hi.");
    expect(JSON.parse(onlyRequest().body.toString())).toMatchObject({ model: "real-chat" });
  });

  it("names the deployment of every endpoint by the model", async () => {
    const deployed = azure();
    await deployed.chat.completions.create({ model: "oa/chat", messages });
    await deployed.completions.create({ model: "oa/chat", prompt: "Hi" });
    await deployed.images.generate({ model, prompt: "A cat" });
    await deployed.images.edit({ model, prompt: "A cat", image: await image("a.png") });
    await (await deployed.audio.speech.create({ model, voice: "alloy", input: "Hello" })).arrayBuffer();
    await deployed.audio.transcriptions.create({ model, file: await sound() });
    await deployed.audio.translations.create({ model, file: await sound() });
    expect(vendor.received.map(({ path }) => path)).toEqual([
      "/v1/chat/completions",
      "/v1/completions",
      "/v1/images/generations",
      "/v1/images/edits",
      "/v1/audio/speech",
      "/v1/audio/transcriptions",
      "/v1/audio/translations",
    ]);
    for (const { headers } of vendor.received) {
      expect(headers.authorization).toMatch(/^Bearer sk-of-the-vendor/);
      expect(headers).not.toHaveProperty("api-key");
    }
    await expect(deployed.embeddings.create({ model: "oa/chat", input: "x" })).resolves.toMatchObject({
      data: [{ index: 0 }],
    });
  });

  it("gets OpenAI's shape of errors, also for a wrong key", async () => {
    await expect(
      azure({ apiKey: "sk-unknown" }).chat.completions.create({ model: "oa/chat", messages }),
    ).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
    await expect(
      azure().chat.completions.create({ model: "nobody/unknown", messages }),
    ).rejects.toMatchObject({
      status: 400,
      code: "model_not_found",
    });
  });

  it.each([
    "/openai/deployments/oa/chat/chat/completions?api-version=1",
    "/openai/deployments/oa%2Fchat/chat/completions?api-version=1",
  ])("may send a body without a model at %s", async (path) => {
    const response = await running.fetch(path, {
      method: "POST",
      headers: { "api-key": DEV_KEY, "content-type": "application/json" },
      body: JSON.stringify({ messages }),
    });
    expect(response.status).toBe(200);
    expect(JSON.parse(onlyRequest().body.toString())).toEqual({ messages, model: "real-chat" });
  });
});

describe("a form", () => {
  const BOUNDARY = "the-boundary";
  const part = (name: string, value: string, more = "") =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const file = (value: string) => part("file", value, '; filename="a.mp3"\r\nContent-Type: audio/mpeg');
  const END = `--${BOUNDARY}--\r\n`;
  const send = (body: BodyInit, path = "/v1/audio/transcriptions", headers: Record<string, string> = {}) =>
    running.fetch(path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${DEV_KEY}`,
        "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
        ...headers,
      },
      body,
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    });
  /** Sends pieces one by one. */
  const streamOf = (pieces: Iterable<string>, pauseMs = 0) => {
    const rest = pieces[Symbol.iterator]();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const { done, value } = rest.next();
        if (done) controller.close();
        else controller.enqueue(new TextEncoder().encode(value));
      },
    });
  };
  const refusal = async (response: Response) => {
    const { error }: { error: { code: string; param: string | null } } = await response.json();
    return { status: response.status, code: error.code, param: error.param };
  };

  it("whose model follows the file is sent with the model's name at the provider", async () => {
    const content = "x".repeat(3 * MIB);
    const response = await send(file(content) + part("model", model) + END);
    expect(response.status).toBe(200);
    const form = await formOf(onlyRequest());
    expect(form.get("model")).toBe("real-name");
    const sent = form.get("file");
    expect(sent instanceof File && sent.size).toBe(3 * MIB);
  });

  it("is passed on while it arrives, if the model comes first", async () => {
    let seen = 0;
    function* pieces() {
      yield part("model", model) + part("response_format", "text") + file("").slice(0, -2);
      for (let index = 0; index < 40; index += 1) {
        if (index === 30) seen = vendor.receivedBytes;
        yield "y".repeat(256 * 1024);
      }
      yield `\r\n${END}`;
    }
    const response = await send(streamOf(pieces(), 20));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("Hello.\n");
    expect(seen).toBeGreaterThan(MIB);
    const sent = (await formOf(onlyRequest())).get("file");
    expect(sent instanceof File && sent.size).toBe(40 * 256 * 1024);
  });

  it.each([
    ["without an end", part("model", model) + file("abc"), 400, null],
    ["without a model", file("abc") + END, 400, "model"],
    [
      "with a second model after it was sent in part",
      part("model", model) + file("z".repeat(3 * MIB)) + part("Model", "oa/chat") + END,
      400,
      "model",
    ],
    ["with a huge field", part("prompt", "p".repeat(MIB)) + part("model", model) + END, 413, "prompt"],
  ])("is refused: %s", async (_, body, status, param) => {
    const response = await send(body);
    expect(await refusal(response)).toMatchObject({ status, param });
    expect(vendor.received.filter(({ isComplete }) => isComplete)).toEqual([]);
  });

  it("is required unless the endpoint accepts JSON", async () => {
    const response = await send(JSON.stringify({ model }), undefined, { "content-type": "application/json" });
    expect((await refusal(response)).status).toBe(400);
    const edit = { model, prompt: "A hat", images: [{ image_url: "https://x.test/a.png" }] };
    const edited = await send(JSON.stringify(edit), "/v1/images/edits", {
      "content-type": "application/json",
    });
    expect(edited.status).toBe(200);
    expect(JSON.parse(onlyRequest().body.toString())).toEqual({ ...edit, model: "real-name" });
  });

  it.each([
    ["short", 3, (content: string) => part("model", model) + content],
    ["long with its model at the end", 3 * MIB, (content: string) => content + part("model", model)],
  ])("can be sent again to another account: %s", async (_, size, order) => {
    vendor.script = ({ headers, ...request }) =>
      headers.authorization === `Bearer ${vendor.received[0]?.headers.authorization?.slice(7)}`
        ? json({ error: { message: "slow down" } }, 429)
        : answer({ headers, ...request });
    const response = await send(order(file("a".repeat(size))) + END);
    expect(response.status).toBe(200);
    expect(vendor.received).toHaveLength(2);
    for (const received of vendor.received) {
      const sent = (await formOf(received)).get("file");
      expect(sent instanceof File && sent.size).toBe(size);
    }
  });

  it("that breaks off ends the request to the provider, too", async () => {
    const leaving = new AbortController();
    function* pieces() {
      yield part("model", model) + file("").slice(0, -2);
      for (;;) yield "y".repeat(256 * 1024);
    }
    const sending = fetch(`${running.gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${DEV_KEY}`,
        "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      },
      body: streamOf(pieces(), 20),
      signal: leaving.signal,
      duplex: "half",
    } as RequestInit).catch((error: unknown) => error);
    await until(
      async () => vendor.receivedBytes,
      (bytes) => bytes > 2 * MIB,
    );
    leaving.abort();
    await sending;
    await until(
      async () => vendor.received,
      (received) => received.some(({ isComplete }) => !isComplete),
    );
  });
});

/** Reads the exported history as soon as it has a text. A record arrives after its answer. */
function readRecordsWith(text: string): Promise<string> {
  const readRecords = async () => {
    const headers = { authorization: "Bearer admin" };
    return (await running.fetch("/admin/chat-history/export?format=ndjson", { headers })).text();
  };
  return until(readRecords, (exported) => exported.includes(text));
}

describe("a failing provider", () => {
  it("that cuts an answer is cut for the caller", async () => {
    vendor.script = () => ({ type: "audio/mpeg", body: SPEECH, isCut: true });
    const speech = client().audio.speech.create({ model, voice: "alloy", input: "Hello" });
    await expect(speech.then((answered) => answered.arrayBuffer())).rejects.toThrow();
  });

  it("that refuses the form is quoted", async () => {
    const error = {
      message: "Invalid file format.",
      type: "invalid_request_error",
      param: "file",
      code: null,
    };
    vendor.script = () => json({ error }, 400);
    await expect(client().audio.transcriptions.create({ model, file: await sound() })).rejects.toMatchObject({
      status: 400,
      message: "400 Invalid file format.",
      param: "file",
    });
  });

  it("that names the account's token in an event does not show it", async () => {
    vendor.script = ({ headers }) =>
      events([{ type: "error", error: { message: `no quota for ${headers.authorization}` } }]);
    const response = await running.post("/v1/images/generations", { model, prompt: "A cat", stream: true });
    const text = await response.text();
    expect(text).toContain("no quota");
    expect(text).not.toContain(TOKEN);
  });

  it("that names the account's token in an answer with the status 200 does not show it", async () => {
    vendor.script = ({ headers }) =>
      json({ error: { message: `no quota for ${headers.authorization}`, code: "quota" } });
    const response = await running.post("/v1/images/generations", { model, prompt: "A cat" });
    const text = await response.text();
    expect(text).toContain("no quota");
    expect(text).not.toContain(TOKEN);
    expect(await readRecordsWith('\\"code\\":\\"quota\\"')).not.toContain(TOKEN);
  });

  it.each([
    ["JSON", "application/json", false],
    ["JSON for a request for a stream", "application/json", true],
    ["text", "text/plain", false],
    ["one event", "text/event-stream", true],
  ])("that names the account's token in a long answer (%s) does not show it", async (name, type, stream) => {
    const filler = "x".repeat(100 * 1024);
    // The token is at 100 KiB, and also where the history cuts the text.
    const start = `data: {"error": {"message": "${name}`;
    vendor.script = ({ headers }) => {
      const token = (headers.authorization ?? "").slice("Bearer ".length);
      const early = "y".repeat(64 * 1024 - start.length - token.length + 2);
      return { type, body: `${start}${early}${token}${filler} no quota for Bearer ${token}"}}\n\n` };
    };
    const response = await running.post("/v1/images/generations", { model, prompt: "A cat", stream });
    const text = await response.text();
    expect(text).toContain("no quota");
    expect(text).not.toContain(TOKEN);
    expect(await readRecordsWith(`${name}yyy`)).not.toContain(TOKEN.slice(0, 20));
  });
});

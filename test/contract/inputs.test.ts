import { afterAll, afterEach, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

/** A web server of a caller's; what it was asked, and what it holds back. */
const asked: string[] = [];
let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
const PICTURE = Buffer.from("89504e470d0a1a0a", "hex");
const server = await serve((request, response) => {
  const path = request.url ?? "";
  asked.push(path);
  const send = (status: number, headers: Record<string, string>, body: Buffer | string = "") =>
    response.writeHead(status, headers).end(body);
  if (path === "/picture.png") send(200, { "content-type": "image/png" }, PICTURE);
  else if (path === "/paper.pdf") send(200, { "content-type": "application/pdf" }, "%PDF-1.7");
  else if (path === "/moved") send(302, { location: "/picture.png" });
  else if (path === "/inside") send(302, { location: "http://127.0.0.1:9/secret.png" });
  else if (path === "/nowhere") send(302, { location: "http://" });
  else if (path === "/loop") send(302, { location: "/loop" });
  else if (path === "/page") send(200, { "content-type": "text/html" }, "<p>not found</p>");
  else if (path === "/large") send(200, { "content-type": "image/png" }, Buffer.alloc(21 * 1024 * 1024));
  else if (path === "/slow") void released.then(() => send(200, { "content-type": "image/png" }, PICTURE));
  else send(404, {});
});
const remote = (path: string) => server.origin + path;
afterAll(() => server.close());

const test = useAdmin({ vars: { PAGE_PRIVATE_HOSTS: server.host } });
const lastTurn = () => test.gateway.sandbox.lastTurn();
const busy = async () => (await test.admin("GET", "/admin/queue/status")).body["in_use"];
afterEach(async () => {
  await expect.poll(busy).toBe(0);
});

const image = PICTURE.toString("base64");
const pdf = Buffer.from("%PDF-1.7").toString("base64");
const note = Buffer.from("remember the milk").toString("base64");
const ASK = "What is this?";

interface Style {
  readonly path: (model: string) => string;
  readonly body: (model: string, part: unknown) => Record<string, unknown>;
  /** Each input in the style's own words; those that it has no words for are left out. */
  readonly parts: Partial<Record<"data" | "url" | "pdf" | "pdfUrl" | "text", unknown>>;
}
const styles: Record<string, Style> = {
  "chat completions": {
    path: () => "/v1/chat/completions",
    body: (model, part) => ({
      model,
      messages: [{ role: "user", content: [{ type: "text", text: ASK }, part] }],
    }),
    parts: {
      data: { type: "image_url", image_url: { url: `data:image/png;base64,${image}`, detail: "low" } },
      url: { type: "image_url", image_url: { url: remote("/picture.png") } },
      pdf: { type: "file", file: { filename: "paper.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
      text: { type: "file", file: { filename: "note.txt", file_data: `data:text/plain;base64,${note}` } },
    },
  },
  responses: {
    path: () => "/v1/responses",
    body: (model, part) => ({
      model,
      input: [{ role: "user", content: [{ type: "input_text", text: ASK }, part] }],
    }),
    parts: {
      data: { type: "input_image", image_url: `data:image/png;base64,${image}` },
      url: { type: "input_image", image_url: remote("/picture.png") },
      pdf: { type: "input_file", filename: "paper.pdf", file_data: `data:application/pdf;base64,${pdf}` },
      pdfUrl: { type: "input_file", file_url: remote("/paper.pdf") },
      text: { type: "input_file", filename: "note.txt", file_data: `data:text/plain;base64,${note}` },
    },
  },
  messages: {
    path: () => "/v1/messages",
    body: (model, part) => ({
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: "text", text: ASK }, part] }],
    }),
    parts: {
      data: { type: "image", source: { type: "base64", media_type: "image/png", data: image } },
      url: { type: "image", source: { type: "url", url: remote("/picture.png") } },
      pdf: { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } },
      pdfUrl: { type: "document", source: { type: "url", url: remote("/paper.pdf") } },
      text: {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "remember the milk" },
      },
    },
  },
  "content generation": {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (_model, part) => ({ contents: [{ role: "user", parts: [{ text: ASK }, part] }] }),
    parts: {
      data: { inlineData: { mimeType: "image/png", data: image } },
      url: { fileData: { mimeType: "image/png", fileUri: remote("/picture.png") } },
      pdf: { inlineData: { mimeType: "application/pdf", data: pdf } },
      pdfUrl: { fileData: { mimeType: "application/pdf", fileUri: remote("/paper.pdf") } },
      text: { inlineData: { mimeType: "text/plain", data: note } },
    },
  },
  "model runner": {
    path: () => "/api/chat",
    body: (model, part) => ({
      model,
      stream: false,
      messages: [{ role: "user", content: ASK, images: [part] }],
    }),
    parts: { data: image },
  },
};

const cases = Object.entries(styles).flatMap(([name, style]) =>
  Object.entries(style.parts).map(([kind, part]) => ({ name, style, kind, part })),
);
const of = (...kinds: string[]) => cases.filter(({ kind }) => kinds.includes(kind));

const ask = (style: Style, part: unknown, model = "provider-v4-vision") =>
  test.post(style.path(model), style.body(model, part));

describe("images", () => {
  it.each(of("data", "url"))("reach a model with vision as a file: $name, $kind", async ({ style, part }) => {
    const response = await ask(style, part);
    expect(response.status).toBe(200);
    // The stand-in says which files it was shown, and how long they are.
    expect(await response.text()).toMatch(new RegExp(`\\(${PICTURE.length} bytes\\)`));
    const turn = await lastTurn();
    expect([turn.model, turn.file_ids.length]).toEqual(["vision", 1]);
  });

  it.each(of("data", "url"))(
    "go to the model with vision if the requested one has none: $name, $kind",
    async ({ style, part }) => {
      const response = await ask(style, part, "provider-v4-flash");
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.stringContaining(`(${PICTURE.length} bytes)`)]);
      const turn = await lastTurn();
      expect([turn.model, turn.thinking, turn.file_ids.length]).toEqual(["vision", true, 1]);
    },
  );

  it.each([
    ["provider-v4-pro-nothinking", "provider-v4-vision-nothinking", false],
    ["provider-v4-flash-search", "provider-v4-vision", true],
    ["gpt-4o", "provider-v4-vision", true],
  ])("sent to %s are answered by %s, with the same thinking", async (model, seen, thinking) => {
    const [chat] = of("data");
    if (chat === undefined) throw new Error("no such style");
    const response = await ask(chat.style, chat.part, model);
    expect(await response.json()).toMatchObject({ model: seen });
    expect(await lastTurn()).toMatchObject({ model: "vision", thinking, search: false });
    const newest = async () => {
      const { items } = Object((await test.admin("GET", "/admin/chat-history")).body);
      return [items[0]?.requested_model, items[0]?.model];
    };
    await expect.poll(newest).toEqual([model, seen]);
  });

  it("in an earlier message are sent again, also as part of a stored response", async () => {
    const part = styles["responses"]?.parts.data;
    const model = "provider-v4-flash";
    const first = await test.post("/v1/responses", {
      model,
      input: [{ role: "user", content: [{ type: "input_text", text: ASK }, part] }],
    });
    const { id } = JSON.parse(await first.text());
    const next = await test.post("/v1/responses", { model, input: "And now?", previous_response_id: id });
    expect(await next.json()).toMatchObject({ model: "provider-v4-vision", status: "completed" });
    expect((await lastTurn()).file_ids).toHaveLength(1);
  });

  it("are counted on any model", async () => {
    const messages = styles["messages"];
    const body = messages?.body("claude-sonnet-5", messages.parts.data);
    const response = await test.post("/v1/messages/count_tokens", body);
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
  });
});

describe("an image that a tool returned", () => {
  const args = "{}";
  const shots: Record<string, [path: string, body: Record<string, unknown>]> = {
    "chat completions": [
      "/v1/chat/completions",
      {
        model: "provider-v4-flash",
        messages: [
          { role: "user", content: ASK },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "shot", arguments: args } }],
          },
          {
            role: "tool",
            tool_call_id: "a",
            content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }],
          },
        ],
      },
    ],
    responses: [
      "/v1/responses",
      {
        model: "provider-v4-flash",
        input: [
          { role: "user", content: ASK },
          { type: "function_call", call_id: "a", name: "shot", arguments: args },
          {
            type: "function_call_output",
            call_id: "a",
            output: [{ type: "input_image", image_url: `data:image/png;base64,${image}` }],
          },
        ],
      },
    ],
    messages: [
      "/v1/messages",
      {
        model: "provider-v4-flash",
        max_tokens: 100,
        messages: [
          { role: "user", content: ASK },
          { role: "assistant", content: [{ type: "tool_use", id: "a", name: "shot", input: {} }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "a",
                content: [
                  { type: "image", source: { type: "base64", media_type: "image/png", data: image } },
                ],
              },
            ],
          },
        ],
      },
    ],
    "content generation": [
      "/v1beta/models/provider-v4-flash:generateContent",
      {
        contents: [
          { role: "user", parts: [{ text: ASK }] },
          { role: "model", parts: [{ functionCall: { name: "shot", args: {} } }] },
          {
            role: "user",
            parts: [
              { functionResponse: { name: "shot", response: { output: "done" } } },
              { inlineData: { mimeType: "image/png", data: image } },
            ],
          },
        ],
      },
    ],
    "model runner": [
      "/api/chat",
      {
        model: "provider-v4-flash",
        stream: false,
        messages: [
          { role: "user", content: ASK },
          { role: "assistant", content: "", tool_calls: [{ function: { name: "shot", arguments: {} } }] },
          { role: "tool", tool_name: "shot", content: "done", images: [image] },
        ],
      },
    ],
  };

  it.each(Object.entries(shots))("goes to the model with vision: %s", async (_, [path, body]) => {
    const response = await test.post(path, body);
    expect(response.status, await response.text()).toBe(200);
    expect(await lastTurn()).toMatchObject({ model: "vision", file_ids: [expect.any(String)] });
  });
});

describe("documents", () => {
  it.each(of("pdf", "pdfUrl"))("reach the model as a file: $name, $kind", async ({ style, part }) => {
    const response = await ask(style, part, "provider-v4-flash");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("(8 bytes)");
    expect((await lastTurn()).file_ids).toHaveLength(1);
  });

  it.each(of("text"))("are read in their place if they are text: $name", async ({ style, part }) => {
    const response = await ask(style, part, "provider-v4-flash");
    expect(response.status).toBe(200);
    await response.body?.cancel();
    const turn = await lastTurn();
    expect(turn.prompt).toContain("remember the milk");
    expect(turn.file_ids).toEqual([]);
  });
});

describe("a file behind a URL", () => {
  const chat = styles["chat completions"];
  const see = (url: string) => {
    if (chat === undefined) throw new Error("no such style");
    return ask(chat, { type: "image_url", image_url: { url } });
  };

  it("is found through redirects, and requested once", async () => {
    asked.length = 0;
    const response = await see(remote("/moved"));
    expect(response.status).toBe(200);
    await response.body?.cancel();
    expect(asked).toEqual(["/moved", "/picture.png"]);
  });

  it.each([
    ["a private address", "http://127.0.0.1:9/a.png"],
    ["a private address in other digits", "http://2130706433:9/a.png"],
    ["the metadata service", "http://169.254.169.254/latest/meta-data"],
    ["a local name", "http://localhost:9/a.png"],
    ["a private address of version 6", "http://[::1]:9/a.png"],
    ["a redirect to a private address", remote("/inside")],
    ["a redirect to no URL", remote("/nowhere")],
    ["too many redirects", remote("/loop")],
    ["a page that is not there", remote("/missing")],
    ["a page where an image was promised", remote("/page")],
    ["more than can be held", remote("/large")],
    ["a URL with a password", "http://user:secret@example.com/a.png"],
  ])("is a 400 that names the field, without asking the provider: %s", async (_name, url) => {
    const { turn_count: before } = await test.gateway.sandbox.state();
    const response = await see(url);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_request", param: "messages", message: expect.any(String) },
    });
    expect((await test.gateway.sandbox.state()).turn_count).toBe(before);
  });

  it("is waited for without a slot", async () => {
    asked.length = 0;
    const answer = see(remote("/slow"));
    await expect.poll(() => asked).toEqual(["/slow"]);
    expect(await busy()).toBe(0);
    release();
    expect((await answer).status).toBe(200);
    await (await answer).body?.cancel();
  });
});

describe("broken inputs", () => {
  it.each([
    ["broken base64", "data:image/png;base64,%%%"],
    ["another scheme", "file:///etc/passwd"],
    ["nothing", ""],
  ])("is a 400: %s", async (_name, url) => {
    const response = await test.chat("", {
      model: "provider-v4-vision",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });
});

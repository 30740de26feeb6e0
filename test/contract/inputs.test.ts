import { createServer, type Server } from "node:http";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

/** A web server of a caller's; what it was asked, and what it holds back. */
const asked: string[] = [];
let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
const PICTURE = Buffer.from("89504e470d0a1a0a", "hex");
const server: Server = createServer((request, response) => {
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
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const remote = (path: string) => `http://127.0.0.1:${port}${path}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const test = useGateway({ vars: { PAGE_PRIVATE_HOSTS: `127.0.0.1:${port}` } });
const lastTurn = () => test.gateway.sandbox.lastTurn();
const busy = async (): Promise<number> => {
  const headers = { authorization: "Bearer admin" };
  const status: { in_use: number } = await (await test.fetch("/admin/queue/status", { headers })).json();
  return status.in_use;
};
afterEach(async () => {
  await expect.poll(busy, { timeout: 10_000 }).toBe(0);
});

const image = PICTURE.toString("base64");
const pdf = Buffer.from("%PDF-1.7").toString("base64");
const note = Buffer.from("remember the milk").toString("base64");
const ASK = "What is this?";

interface Style {
  readonly path: (model: string) => string;
  /** The field that an error names. */
  readonly param: string | undefined;
  readonly body: (model: string, part: unknown) => Record<string, unknown>;
  /** Each input in the style's own words; those that it has no words for are left out. */
  readonly parts: Partial<Record<"data" | "url" | "pdf" | "pdfUrl" | "text", unknown>>;
}
const styles: Record<string, Style> = {
  "chat completions": {
    path: () => "/v1/chat/completions",
    param: "messages",
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
    param: "input",
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
    param: "messages",
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
    param: undefined,
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
    param: undefined,
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
  it.each(of("data", "url"))("$name, $kind: reach a model with vision as a file", async ({ style, part }) => {
    const response = await ask(style, part);
    expect(response.status).toBe(200);
    // The stand-in says which files it was shown, and how long they are.
    expect(await response.text()).toMatch(new RegExp(`\\(${PICTURE.length} bytes\\)`));
    const turn = await lastTurn();
    expect([turn.model, turn.file_ids.length]).toEqual(["vision", 1]);
  });

  it.each(of("data", "url"))("$name, $kind: without vision a 400 that says so", async ({ style, part }) => {
    const before = await test.gateway.sandbox.state();
    const response = await ask(style, part, "provider-v4-flash");
    expect(response.status).toBe(400);
    const body = await response.text();
    expect(body).toContain("vision");
    if (style.param !== undefined) expect(JSON.parse(body).error.param).toBe(style.param);
    const after = await test.gateway.sandbox.state();
    expect(after.turn_count).toBe(before.turn_count);
  });
});

describe("documents", () => {
  it.each(of("pdf", "pdfUrl"))("$name, $kind: reach the model as a file", async ({ style, part }) => {
    const response = await ask(style, part, "provider-v4-flash");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("(8 bytes)");
    expect((await lastTurn()).file_ids).toHaveLength(1);
  });

  it.each(of("text"))("$name: a text is read in its place", async ({ style, part }) => {
    const response = await ask(style, part, "provider-v4-flash");
    expect(response.status).toBe(200);
    await response.body?.cancel();
    const turn = await lastTurn();
    expect(turn.prompt).toContain("remember the milk");
    expect(turn.file_ids).toEqual([]);
  });
});

describe("what is behind a URL", () => {
  const chat = styles["chat completions"];
  const see = (url: string) => {
    if (chat === undefined) throw new Error("no such style");
    return ask(chat, { type: "image_url", image_url: { url } });
  };

  it("is found through redirects, and asked for once", async () => {
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
  ])("%s is a 400 that names the field, and costs no turn", async (_name, url) => {
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
  ])("%s is a 400", async (_name, url) => {
    const response = await test.chat("", {
      model: "provider-v4-vision",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });
});

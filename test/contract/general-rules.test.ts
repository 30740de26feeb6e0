import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, type GroundingMetadata } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { buildOpenApiDocument } from "../../src/core/routing/openapi.ts";
import { DIALECT_CLIENTS } from "../support/dialect-clients.ts";
import { ROUTE_GROUPS } from "../support/route-groups.ts";
import { useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const { fetch, post, chat } = test;

const SHORTCUTS: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/models"],
  ["GET", "/models/provider-v4-pro"],
  ["POST", "/chat/completions"],
  ["POST", "/completions"],
  ["POST", "/responses"],
  ["GET", "/responses/resp_none"],
  ["POST", "/embeddings"],
  ["POST", "/files"],
  ["GET", "/files/file_none"],
];

describe("the gateway", () => {
  it("answers with application/json (rule 1)", async () => {
    const response = await fetch("/v1/models");
    expect(response.headers.get("content-type")).toContain("application/json");
  });

  it("refuses an invalid UTF-8 byte sequence with 400 and the code `invalid json` (rule 2)", async () => {
    const response = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid json", type: "invalid_request_error" },
    });
  });

  const encoded = (path: string, coding: string, body: Uint8Array<ArrayBuffer>) =>
    fetch(path, {
      method: "POST",
      headers: {
        authorization: path.startsWith("/admin") ? "Bearer admin" : "Bearer sk-dev",
        "content-type": "application/json",
        "content-encoding": coding,
      },
      body,
    });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["zstd", zstdCompressSync],
  ] as const)(
    "accepts a body that is encoded with %s, and limits its decoded size (rule 2)",
    async (coding, encode) => {
      const body = { model: "gpt-4o", messages: [{ role: "user", content: "Hello. ".repeat(20_000) }] };
      const answer = await encoded(
        "/v1/chat/completions",
        coding,
        Uint8Array.from(encode(JSON.stringify(body))),
      );
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Hello.")]);
      const bomb = Uint8Array.from(encode(new Uint8Array(64 * 1024 * 1024).fill(32)));
      const refused = await encoded("/v1/chat/completions", coding, bomb);
      expect([refused.status, await refused.json()]).toMatchObject([
        413,
        { error: { code: "request_too_large" } },
      ]);
    },
  );

  it.each([
    ["/v1/chat/completions", { error: { type: "invalid_request_error", code: "invalid_request" } }],
    ["/v1/messages", { type: "error", error: { type: "invalid_request_error" } }],
    ["/v1beta/models/gemini-2.5-pro:generateContent", { error: { code: 415, status: "INVALID_ARGUMENT" } }],
    ["/api/chat", { error: expect.stringContaining("zstd") }],
    ["/admin/keys", { detail: expect.stringContaining("zstd") }],
  ])("refuses a body of another coding with 415 at %s (rule 2)", async (path, shape) => {
    const response = await encoded(path, "br", new Uint8Array([1, 2, 3]));
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "gzip, deflate, zstd"]);
    expect(await response.json()).toMatchObject(shape);
  });

  it.each([
    ["/healthz", "ok"],
    ["/readyz", "ready"],
  ])("answers GET %s with status %s (rule 3)", async (path, status) => {
    const response = await fetch(path);
    expect([response.status, await response.json()]).toEqual([200, { status }]);
  });

  it.each(["/healthz", "/readyz"])("answers HEAD %s without a body (rule 3)", async (path) => {
    const response = await fetch(path, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it.each([
    "/v1/models",
    "/vendorb/v1/models",
    "/v1beta/models/x:generateContent",
    "/api/tags",
    "/admin/config",
  ])("allows the request's origin on %s, or * without one (rule 4)", async (path) => {
    const echoed = await fetch(path, { headers: { origin: "https://app.example" } });
    expect(echoed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    await echoed.body?.cancel();
    const any = await fetch(path);
    expect(any.headers.get("access-control-allow-origin")).toBe("*");
    await any.body?.cancel();
  });

  it("allows declared third-party headers in a preflight, and never X-Gateway-Internal-Token (rule 4)", async () => {
    const response = await fetch("/v1/chat/completions", {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers":
          "x-stainless-os, x-gateway-internal-token, anthropic-beta, x-goog-api-client",
      },
    });
    const allowed = response.headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
    expect(response.status).toBe(204);
    for (const name of [
      "x-stainless-os",
      "anthropic-beta",
      "x-goog-api-client",
      "x-gateway-target-account",
    ]) {
      expect(allowed).toContain(name);
    }
    expect(allowed).not.toContain("x-gateway-internal-token");
  });

  it.each(SHORTCUTS)("treats %s %s like its /v1 counterpart (rule 6)", async (method, path) => {
    const init = { method, headers: { authorization: "Bearer sk-dev" } };
    const [short, long] = await Promise.all([fetch(path, init), fetch(`/v1${path}`, init)]);
    expect(short.status).toBe(long.status);
    expect(await short.json()).toEqual(await long.json());
  });

  it("retries thinking without an answer once, in the same session (rule 7)", async () => {
    const response = await chat("[[empty]] what is it");
    expect(response.status).toBe(200);
    const body: { choices: { message: { content: string } }[] } = await response.json();
    expect(body.choices[0]?.message.content).not.toBe("");
  });

  it("replaces an account that stays empty by another one (rule 7)", async () => {
    expect((await chat("[[empty:account]] hello")).status).toBe(200);
  });

  it("answers 429 upstream_empty_output without Retry-After if all output is empty (rule 7)", async () => {
    const response = await chat("[[empty:always]] hello");
    expect(response.status).toBe(429);
    expect(response.headers.has("retry-after")).toBe(false);
    expect(await response.json()).toMatchObject({ error: { code: "upstream_empty_output" } });
  });

  it("never replaces a pinned account (rule 7)", async () => {
    const response = await chat(
      "[[empty:account]] hello",
      {},
      { "x-gateway-target-account": "two@sandbox.test" },
    );
    expect(response.status).toBe(429);
  });

  it("hides citation placeholders in streams (rule 8)", async () => {
    const response = await chat("[[citations]]", { stream: true });
    const text = await response.text();
    expect(text).toContain("data: [DONE]");
    expect(text).not.toMatch(/\[(?:citation|reference):\d/);
  });

  it("converts search citations to Markdown links in whole answers (rule 8)", async () => {
    const body: { choices: { message: { content: string } }[] } = await (await chat("[[citations]]")).json();
    expect(body.choices[0]?.message.content).toMatch(/\[1\]\(https?:\/\/[^)]+\)/);
    expect(body.choices[0]?.message.content).not.toContain("[citation:");
  });

  // With pieces of one and four characters markers are cut everywhere.
  describe.each(DIALECT_CLIENTS)("shows reasoning in $name", (client) => {
    const ask = async (question: string, stream: boolean): Promise<string> => {
      const response = await client.send(test, { steps: [{ user: question }] }, stream);
      expect(response.status).toBe(200);
      return response.text();
    };

    it.each(["", "[[chunk:1]]", "[[chunk:4]]"])(
      "without citation placeholders in streams %s (rule 8)",
      async (cut) => {
        const think = "[[think:As [citation:1] and [reference:20] say, [cit]]";
        const answer = client.streamed(await ask(`${think}${cut}[[say:Yes.]]`, true));
        expect([answer.reasoning, answer.text]).toEqual(["As  and  say, [cit", "Yes."]);
      },
    );

    it("with Markdown links for search citations in whole answers (rule 8)", async () => {
      const answer = await ask("[[think:As [citation:1] says[citation:99].]][[citations]]", false);
      expect(answer).toContain('"As [1](https://example.com/one) says."');
    });
  });

  // What it says of answers is what every answer to a test is held to (`test/support/described.ts`).
  it("describes every route in GET /openapi.json", async () => {
    expect(await (await fetch("/openapi.json")).json()).toEqual(buildOpenApiDocument(ROUTE_GROUPS));
  });

  it("states a request id in every answer, and keeps the caller's", async () => {
    expect((await fetch("/healthz")).headers.get("x-request-id")).toMatch(/^req_/);
    const kept = await fetch("/healthz", { headers: { "x-request-id": "mine-1" } });
    expect(kept.headers.get("x-request-id")).toBe("mine-1");
  });

  it.each([
    ["/v1/nothing", { error: { code: "not_found" } }],
    ["/admin/nothing", { detail: expect.any(String) }],
    ["/v1beta/nothing", { error: { code: 404, status: "NOT_FOUND" } }],
  ])("answers 404 to an unknown route %s, in its family's format", async (path, shape) => {
    const response = await fetch(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject(shape);
  });

  it("answers 405 with Allow to a wrong method of a known path", async () => {
    const response = await fetch("/v1/chat/completions");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    await response.body?.cancel();
  });

  it.each([
    ["/healthz", "GET, HEAD, OPTIONS"],
    ["/readyz", "GET, HEAD, OPTIONS"],
    ["/openapi.json", "GET, HEAD, OPTIONS"],
    ["/console/index.html", "GET, HEAD, OPTIONS"],
    ["/admin/", null],
    ["/api/tags", null],
    ["/v1/thumbs", null],
  ])("answers OPTIONS of %s", async (path, allow) => {
    const response = await fetch(path, { method: "OPTIONS" });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("allow")).toBe(allow);
  });

  it("answers 404 to OPTIONS of an unknown path", async () => {
    expect((await fetch("/nowhere", { method: "OPTIONS" })).status).toBe(404);
  });

  it("accepts 31 MiB that are one image with a managed key", async () => {
    const url = `data:image/png;base64,${"A".repeat(31 * 1024 * 1024)}`;
    const content = [{ type: "image_url", image_url: { url } }];
    const body = { model: "provider-v4-vision", messages: [{ role: "user", content }] };
    expect((await post("/v1/chat/completions", body)).status).toBe(200);
  });

  it("refuses 31 MiB of empty objects with 413 for any caller", async () => {
    const body = `{"model":"gpt-4o","messages":[${"{},".repeat(10 * 1024 * 1024)}{}]}`;
    for (const key of ["sk-dev", "made-up"]) {
      const response = await fetch("/v1beta/models/gpt-4o:generateContent", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body,
      });
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: 413, status: "INVALID_ARGUMENT" } });
    }
    expect((await fetch("/healthz")).status).toBe(200);
  });

  it("limits bodies without a credential to 16 KiB for a sign-in, and to 64 KiB elsewhere", async () => {
    const signIn = await post("/admin/login", { admin_key: "x".repeat(17 * 1024) });
    expect([signIn.status, await signIn.json()]).toEqual([413, { detail: expect.any(String) }]);
    expect((await post("/api/show", { model: "x".repeat(65 * 1024) })).status).toBe(413);
  });

  it("refuses a body of 50 MB with 413", async () => {
    const response = await post("/v1/chat/completions", {
      model: "x",
      messages: [],
      pad: "x".repeat(50_000_000),
    });
    expect(response.status).toBe(413);
    await response.body?.cancel();
  });
});

describe("a hosted web search", () => {
  const ASK = "[[citations]]";
  const MODEL = "provider-v4-flash";
  const PAGES = ["https://example.com/one", "https://example.org/two"];
  // The stand-in's answer refers to each of its pages twice.
  const CITED = [...PAGES, ...PAGES];

  const searched = async (): Promise<unknown> => {
    const { model, search } = await test.gateway.sandbox.lastTurn();
    return { model, search };
  };

  it.each([false, true])("of chat completions comes back as annotations (stream: %s)", async (stream) => {
    const client = new OpenAI({ apiKey: "sk-dev", baseURL: `${test.gateway.url}/v1` });
    const body = {
      model: MODEL,
      messages: [{ role: "user" as const, content: ASK }],
      web_search_options: {},
    };
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    expect(completion.model).toBe("provider-v4-flash-search");
    expect(await searched()).toEqual({ model: "flash", search: true });
    const annotations: unknown = Reflect.get(completion.choices[0]?.message ?? {}, "annotations");
    expect(annotations).toMatchObject(
      CITED.map((url) => ({ type: "url_citation", url_citation: { url, title: expect.any(String) } })),
    );
  });

  it.each([false, true])("of responses comes back as annotations (stream: %s)", async (stream) => {
    const client = new OpenAI({ apiKey: "sk-dev", baseURL: `${test.gateway.url}/v1` });
    const body = { model: MODEL, input: ASK, tools: [{ type: "web_search" as const }] };
    const added: unknown[] = [];
    const response = stream
      ? await client.responses
          .stream(body)
          .on("response.output_text.annotation.added", (event) => added.push(event.annotation))
          .finalResponse()
      : await client.responses.create(body);
    expect(await searched()).toEqual({ model: "flash", search: true });
    const [part] = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
    if (part?.type !== "output_text") throw new Error("the message has a text");
    expect(part.annotations).toMatchObject(CITED.map((url) => ({ type: "url_citation", url })));
    for (const note of part.annotations) {
      if (note.type !== "url_citation") throw new Error("all are citations");
      const place = part.text.slice(note.start_index, note.end_index);
      if (stream) expect(place).toBe("");
      else expect(place).toContain(note.url);
    }
    if (stream) expect(added).toEqual(part.annotations);
  });

  it.each([false, true])("of messages comes back as citations (stream: %s)", async (stream) => {
    const client = new Anthropic({ apiKey: "sk-dev", authToken: null, baseURL: test.gateway.url });
    const body = {
      model: "claude-sonnet-5",
      max_tokens: 1000,
      messages: [{ role: "user" as const, content: ASK }],
      tools: [{ type: "web_search_20250305" as const, name: "web_search" as const }],
    };
    const message = stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    expect(await searched()).toMatchObject({ search: true });
    const [text] = message.content.filter(({ type }) => type === "text");
    expect(text).toMatchObject({
      citations: CITED.map((url) => ({ type: "web_search_result_location", url })),
    });
    const next = [...body.messages, { role: "assistant" as const, content: message.content }];
    const later = await client.messages.create({
      ...body,
      messages: [...next, { role: "user", content: "[[say:on]]" }],
    });
    expect(later.stop_reason).toBe("end_turn");
  });

  it.each([false, true])("of content generation comes back as grounding (stream: %s)", async (stream) => {
    const client = new GoogleGenAI({ apiKey: "sk-dev", httpOptions: { baseUrl: test.gateway.url } });
    const request = { model: "gemini-2.5-flash", contents: ASK, config: { tools: [{ googleSearch: {} }] } };
    let text = "";
    let grounding: GroundingMetadata | undefined;
    const chunks = stream
      ? await client.models.generateContentStream(request)
      : [await client.models.generateContent(request)];
    for await (const chunk of chunks) {
      text += chunk.text ?? "";
      grounding = chunk.candidates?.[0]?.groundingMetadata ?? grounding;
    }
    expect(await searched()).toMatchObject({ search: true });
    expect(grounding?.groundingChunks?.map(({ web }) => web?.uri)).toEqual(PAGES);
    expect(grounding?.groundingSupports).toHaveLength(4);
    const bytes = Buffer.from(text);
    for (const { segment } of grounding?.groundingSupports ?? []) {
      expect(bytes.subarray(segment?.startIndex, segment?.endIndex).toString()).toBe(segment?.text);
    }
  });

  it("that the caller did not request is not created", async () => {
    const response = await chat("[[say:plain]]");
    const body: { choices: { message: object }[] } = await response.json();
    expect(body.choices[0]?.message).not.toHaveProperty("annotations");
    expect(await searched()).toMatchObject({ search: false });
  });
});

import { text as readText } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { COMPLETIONS_CLIENT, DIALECT_CLIENTS } from "../support/dialect-clients.ts";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const MODEL = "provider-v4-flash";

/** What the moderation webhook received, and how it answers. */
const asked: { readonly input: readonly string[]; readonly authorization: string }[] = [];
let broken: "no" | "error" | "silent" | "nonsense" | "endless" = "no";
const webhook = await serve(async (request, response) => {
  const { input } = JSON.parse(await readText(request));
  if (broken === "silent") return;
  asked.push({ input, authorization: request.headers.authorization ?? "" });
  response.writeHead(broken === "error" ? 500 : 200, { "content-type": "application/json" });
  if (broken === "endless") {
    const writing = setInterval(() => response.write(" ".repeat(100_000)), 1);
    response.on("close", () => clearInterval(writing));
    return;
  }
  const results = input.map((text: string) => ({ flagged: text.includes("violence"), categories: {} }));
  response.end(broken === "nonsense" ? "{}" : JSON.stringify({ id: "modr-1", model: "m", results }));
});
afterAll(() => webhook.close());

describe("guardrails", () => {
  const gateway = useAdmin();
  const { admin, post } = gateway;
  const clients = [...DIALECT_CLIENTS, COMPLETIONS_CLIENT];

  const setRules = async (...rules: readonly object[]) => {
    const body = { rules, private_hosts: [webhook.host], unchecked_endpoints: "refuse" };
    expect(await admin("PUT", "/admin/guardrails", body)).toMatchObject({ status: 200 });
    // An isolate has the new configuration after two seconds at most.
    await until(
      async () => (await post("/v1/embeddings", { model: "text-embedding-3-small", input: "x" })).status,
      (status) => (status === 403) === rules.some((rule) => Object(rule).applies_to !== "keys"),
    );
  };
  const turns = async () => (await gateway.gateway.sandbox.state()).turns;
  const expressions = (...list: readonly object[]) => ({
    id: "words",
    type: "expressions",
    expressions: list,
  });

  it("masks requests and answers in every style, whole and streamed", async () => {
    await setRules(
      expressions(
        { pattern: "\\b\\d{4}-\\d{4}\\b", action: "mask", replacement: "[card]" },
        { pattern: "(?i)project\\s+apollo", action: "mask", replacement: "[project]" },
      ),
    );
    for (const client of clients) {
      for (const stream of [false, true]) {
        const before = (await turns()).length;
        const conversation = {
          steps: [{ user: "My card is 1234-5678. [[chunk:3]][[say:This is Project  Apollo, they say.]]" }],
        };
        const response = await client.send({ post }, conversation, stream);
        const text = await response.text();
        expect([client.name, response.status, response.headers.get("x-gateway-path")]).toEqual([
          client.name,
          200,
          "translated",
        ]);
        const answer = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        // The directive was masked before the provider read it.
        expect(answer.text).toBe("This is [project], they say.");
        const sent = JSON.stringify((await turns()).slice(before));
        expect(sent).toContain("My card is [card].");
        expect(sent).not.toMatch(/1234-5678|Apollo/);
      }
    }
  });

  it("masks answers alone, arguments of tools included", async () => {
    await setRules({
      ...expressions({ pattern: "apollo", action: "mask", replacement: "***" }),
      stage: "after",
    });
    const tools = [
      { name: "find", description: "", schema: { type: "object", properties: { q: { type: "string" } } } },
    ];
    for (const client of DIALECT_CLIENTS) {
      for (const stream of [false, true]) {
        const conversation = {
          tools,
          steps: [{ user: '[[say:See apollo.]][[call:find:{"q":"the apollo file"}]]' }],
        };
        const text = await (await client.send({ post }, conversation, stream)).text();
        const answer = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect([client.name, stream, text.includes("apollo"), answer.toolCalls]).toEqual([
          client.name,
          stream,
          false,
          [{ name: "find", arguments: { q: "the *** file" } }],
        ]);
      }
    }
  });

  it("ends a denied answer with the filter reason of each style", async () => {
    await setRules({ ...expressions({ pattern: "apollo" }), stage: "after" });
    for (const client of clients) {
      for (const stream of [false, true]) {
        const conversation = { steps: [{ user: "[[say:The secret is apollo.]]" }] };
        const response = await client.send({ post }, conversation, stream);
        const text = await response.text();
        const answer = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect([client.name, stream, response.status, answer.finish]).toEqual([
          client.name,
          stream,
          200,
          "content_filter",
        ]);
        expect(text).not.toContain("apollo");
      }
    }
    const { url } = gateway.gateway;
    const messages = [{ role: "user" as const, content: "[[say:apollo]]" }];
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-dev", maxRetries: 0 });
    const completion = await openai.chat.completions.create({ model: MODEL, messages });
    expect(completion.choices[0]?.finish_reason).toBe("content_filter");
    const anthropic = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: "sk-dev", maxRetries: 0 });
    const message = await anthropic.messages
      .stream({ model: MODEL, max_tokens: 100, messages })
      .finalMessage();
    expect(message.stop_reason).toBe("refusal");
  });

  it("denies requests before they cost anything, and records them", async () => {
    await setRules({ ...expressions({ pattern: "apollo" }), stage: "before", name: "No projects" });
    const count = (await turns()).length;
    const result = { result: "the apollo file", id: "call_1", name: "find" };
    const call = { assistant: "", calls: [{ id: "call_1", name: "find", input: { q: "apollo" } }] };
    const found = { result: "nothing", id: "call_1", name: "find" };
    for (const client of DIALECT_CLIENTS) {
      for (const steps of [
        [{ user: "About apollo" }],
        [{ user: "Hi" }, { ...call, calls: [{ id: "call_1", name: "find", input: { q: "x" } }] }, result],
        [{ user: "Hi" }, call, found],
      ]) {
        const response = await client.send({ post }, { steps }, true);
        expect([client.name, response.status]).toEqual([client.name, 400]);
        expect(await response.text()).toContain("No projects");
      }
    }
    expect((await turns()).length).toBe(count);
    const queue = await admin("GET", "/admin/queue/status");
    expect(queue.body).toMatchObject({ in_use: 0 });
    const history = await until(
      async () => (await admin("GET", "/admin/chat-history?page_size=1")).body,
      ({ items }) => Object(Object(items)[0]).status === "error",
    );
    expect(Object(history["items"])[0]).toMatchObject({
      status: "error",
      status_code: 400,
      account: "",
      prompt_tokens: 0,
      completion_tokens: 0,
    });
  });

  it("denies text wherever a caller can hide it", async () => {
    await setRules({ ...expressions({ pattern: "apollo" }), stage: "before" });
    const count = (await turns()).length;
    const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
    const hi = user("Hi");
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const fileOf = (data: string) => user([{ type: "file", file: { filename: "a.txt", file_data: data } }]);
    const documentOf = (source: object) => user([{ type: "document", source }]);
    const schema = { type: "object", properties: { q: { type: "string", description: "about apollo" } } };
    const tool = (fields: object) => ({
      ...hi,
      tools: [{ type: "function", function: { name: "find", ...fields } }],
    });
    const format = (fields: object) => ({
      ...hi,
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object" }, ...fields },
      },
    });
    const chat = "/v1/chat/completions";
    const messages = "/vendorb/v1/messages";
    for (const [place, path, body] of [
      [
        "a part",
        chat,
        user([
          { type: "text", text: "apo" },
          { type: "text", text: "llo" },
        ]),
      ],
      ["the schema of the format", chat, format({ schema })],
      ["a name in the schema", chat, format({ schema: { type: "object", properties: { apollo: {} } } })],
      ["the name of the format", chat, format({ name: "apollo" })],
      ["the name of a tool", chat, tool({ name: "find_apollo" })],
      ["the description of a tool", chat, tool({ description: "finds apollo" })],
      ["the schema of a tool", chat, tool({ parameters: schema })],
      ["a stop sequence", chat, { ...hi, stop: ["x", "apollo"] }],
      ["the user", chat, { ...hi, user: "apollo" }],
      ["a participant", chat, { messages: [{ role: "user", name: "apollo", content: "Hi" }] }],
      ["a text file", chat, fileOf(`data:text/plain;base64,${base64("of apollo")}`)],
      ["a text file with zeros", chat, fileOf(`data:text/plain;base64,${base64("of ap\0ollo")}`)],
      [
        "a text file that says it is none",
        chat,
        fileOf(`data:application/octet-stream;base64,${base64("apollo")}`),
      ],
      ["a text file without base64", chat, fileOf("data:text/plain,%61pollo")],
      ["a document", messages, documentOf({ type: "text", media_type: "text/plain", data: "apollo" })],
      [
        "a document in base64",
        messages,
        documentOf({ type: "base64", media_type: "text/plain", data: base64("apollo") }),
      ],
    ] as const) {
      const response = await post(path, { model: MODEL, max_tokens: 10, ...body });
      expect([place, response.status]).toEqual([place, 400]);
      expect(await response.text()).toContain("not allowed (guardrail");
    }
    const cache = { model: `models/${MODEL}`, contents: [{ role: "user", parts: [{ text: "apollo" }] }] };
    expect((await post("/v1beta/cachedContents", cache)).status).toBe(403);
    expect((await turns()).length).toBe(count);
  });

  it("masks text files, and refuses more text than it checks", async () => {
    await setRules({ ...expressions({ pattern: "apollo", action: "mask" }), stage: "before" });
    const before = (await turns()).length;
    const file_data = `data:text/plain;base64,${Buffer.from("the apollo file").toString("base64")}`;
    const content = [
      { type: "text", text: "Read it." },
      { type: "file", file: { filename: "apollo.txt", file_data } },
    ];
    const response = await post("/v1/chat/completions", {
      model: MODEL,
      messages: [{ role: "user", content }],
    });
    expect(response.status).toBe(200);
    const sent = JSON.stringify((await turns()).slice(before));
    expect(sent).toContain("the [removed] file");
    expect(sent).not.toContain("apollo");
    const long = await gateway.chat("x ".repeat(500_001));
    expect([long.status, await long.json()]).toMatchObject([
      400,
      { error: { code: "request_too_large", message: expect.stringContaining("1000000 characters") } },
    ]);
  });

  it("limits the size of requests and answers", async () => {
    await setRules({ id: "size", type: "size", max_chars: 2_000 });
    const long = await gateway.chat("x".repeat(2_001));
    expect([long.status, await long.json()]).toMatchObject([400, { error: { code: "content_filter" } }]);
    for (const stream of [false, true]) {
      const text = await (await gateway.chat("[[big:5000]]", { stream })).text();
      expect(text).toContain('"finish_reason":"content_filter"');
    }
    expect((await gateway.chat("Hello")).status).toBe(200);
  });

  it("asks a webhook in the form of OpenAI's moderations, and fails as configured", async () => {
    const rule = {
      id: "hook",
      type: "webhook",
      url: `${webhook.origin}/v1/moderations`,
      token: "sk-moderate",
      timeout_ms: 500,
    };
    await setRules(rule);
    asked.length = 0;
    const denied = await gateway.chat("Tell me of violence");
    expect([denied.status, await denied.json()]).toMatchObject([400, { error: { code: "content_filter" } }]);
    expect(asked).toEqual([{ input: ["Tell me of violence"], authorization: "Bearer sk-moderate" }]);
    const words = "peace and ".repeat(300);
    for (const stream of [false, true]) {
      const said = await (await gateway.chat(`[[say:${words}vio]][[say:lence]]`, { stream })).text();
      expect(said).toContain('"finish_reason":"content_filter"');
      expect(said.includes("peace")).toBe(stream);
      expect(said).not.toContain("vio");
    }
    for (const failure of ["error", "silent", "nonsense"] as const) {
      broken = failure;
      const refused = await gateway.chat("Hello");
      expect([failure, refused.status]).toEqual([failure, 503]);
      await refused.body?.cancel();
    }
    await setRules({ ...rule, timeout_ms: 20_000 });
    broken = "endless";
    const begun = Date.now();
    expect((await gateway.chat("Hello again")).status).toBe(503);
    expect(Date.now() - begun).toBeLessThan(10_000);
    broken = "nonsense";
    await setRules({ ...rule, on_failure: "allow" });
    const allowed = await until(
      () => gateway.chat("Hello there"),
      ({ status }) => status === 200,
    );
    expect(await allowed.text()).toContain("Hello there");
    broken = "no";
  });

  it("applies rules only to the keys that name them, and refuses these keys unchecked endpoints", async () => {
    await setRules({ ...expressions({ pattern: "apollo" }), applies_to: "keys" });
    const unknown = await admin("POST", "/admin/keys", { name: "none", guardrails: ["no-such-rule"] });
    expect(unknown.status).toBe(400);
    const added = await admin("POST", "/admin/keys", { name: "guarded", guardrails: ["words"] });
    const guarded = { authorization: `Bearer ${added.body["key"]}` };
    const embeddings = { model: "text-embedding-3-small", input: "apollo" };
    expect((await gateway.chat("About apollo")).status).toBe(200);
    expect((await post("/v1/embeddings", embeddings)).status).not.toBe(403);
    expect((await gateway.chat("About apollo", {}, guarded)).status).toBe(400);
    expect((await post("/v1/embeddings", embeddings, guarded)).status).toBe(403);
    const removed = await admin("PUT", "/admin/guardrails", { rules: [] });
    expect([removed.status, JSON.stringify(removed.body)]).toEqual([400, expect.stringContaining("words")]);
  });

  it("applies rules to the keys of a team or user that names them, and to requests with such a tag", async () => {
    const rule = { ...expressions({ pattern: "apollo" }), applies_to: "keys" };
    await setRules(rule, { ...rule, id: "shared" });
    const addKey = async (fields: object): Promise<string> =>
      String((await admin("POST", "/admin/keys", fields)).body["key"]);
    const embeddings = { model: "text-embedding-3-small", input: "apollo" };
    for (const { kind, list } of [
      { kind: "team", list: "/admin/teams" },
      { kind: "user", list: "/admin/users" },
      { kind: "tag", list: "/admin/tags" },
    ]) {
      const unknown = await admin("POST", list, { id: "unknown", guardrails: ["no-such-rule"] });
      expect([unknown.status, unknown.body["detail"]]).toEqual([
        400,
        expect.stringContaining("no-such-rule"),
      ]);
      expect((await admin("POST", list, { id: "open" })).body).toMatchObject({ guardrails: [] });
      expect((await admin("POST", list, { id: "guarded", guardrails: ["shared"] })).body).toMatchObject({
        guardrails: ["shared"],
      });
      const send = async (id: string) => {
        const key = await addKey(kind === "tag" ? {} : { [kind]: id });
        const headers = {
          authorization: `Bearer ${key}`,
          ...(kind === "tag" ? { "x-gateway-tags": `other,${id}` } : {}),
        };
        return [
          (await gateway.chat("About apollo", {}, headers)).status,
          (await post("/v1/embeddings", embeddings, headers)).status,
        ];
      };
      const [open, openEmbeddings] = await send("open");
      expect([kind, open, openEmbeddings === 403]).toEqual([kind, 200, false]);
      expect([kind, await send("guarded")]).toEqual([kind, [400, 403]]);
      // An edit of another field keeps the list; an empty one removes it.
      const path = `${list}/guarded`;
      const renamed = await admin("PUT", path, { name: "Guarded" });
      expect(renamed.body).toMatchObject({ name: "Guarded", guardrails: ["shared"] });
      const removed = await admin("PUT", "/admin/guardrails", { rules: [rule] });
      expect([removed.status, removed.body["detail"]]).toEqual([400, expect.stringContaining("shared")]);
      expect((await admin("PUT", path, { guardrails: [] })).body).toMatchObject({ guardrails: [] });
    }
  });

  it("shows no secret, keeps what an edit leaves out, and refuses rules that cannot work", async () => {
    const rule = {
      id: "hook",
      type: "webhook",
      url: `${webhook.origin}/secret-path`,
      token: "sk-moderate-secret",
      applies_to: "keys",
    };
    const others = expressions({ pattern: "apollo" });
    await setRules({ ...others, applies_to: "keys" }, rule);
    const view = await admin("GET", "/admin/guardrails");
    expect(view.body).toMatchObject({
      rules: [{ id: "words" }, { id: "hook", has_token: true }],
      private_hosts: [webhook.host],
    });
    expect(JSON.stringify(view.body)).not.toMatch(/secret/);
    // A client sends back what it read.
    expect((await admin("PUT", "/admin/guardrails", view.body)).status).toBe(200);
    const exported = await admin("GET", "/admin/config/export");
    expect(JSON.stringify(exported.body)).toContain("sk-moderate-secret");
    expect(JSON.stringify(exported.body)).toContain("/secret-path");
    for (const [fields, param] of [
      [{ type: "expressions", expressions: [{ pattern: "(?=a)" }] }, "rules[0].expressions[0].pattern"],
      [{ type: "webhook", url: "http://10.0.0.1/" }, "rules[0].url"],
      [{ type: "webhook", url: `${webhook.origin}/`, colour: "red" }, "colour"],
    ] as const) {
      const refused = await admin("PUT", "/admin/guardrails", { rules: [{ id: "new", ...fields }] });
      expect([refused.status, refused.body["detail"]]).toEqual([400, expect.stringContaining(param)]);
    }
  });

  it("tries rules on a text, also before they are saved, and stores nothing", async () => {
    const check = async (body: object) => (await admin("POST", "/admin/guardrails/check", body)).body;
    const url = `${webhook.origin}/secret-path`;
    const hook = { id: "hook", type: "webhook", url, token: "sk-moderate-secret", applies_to: "keys" };
    // Without the rule that a key of the tests above names, the edit would be refused.
    await setRules({ ...expressions({ pattern: "apollo" }), applies_to: "keys", disabled: true }, hook);
    const { body: view } = await admin("GET", "/admin/guardrails");
    const allowed = { allowed: true, masked: false, message: "" };
    expect(await check({ text: "peace" })).toEqual({ ...allowed, text: "peace" });
    expect(asked.at(-1)).toEqual({ input: ["peace"], authorization: "Bearer sk-moderate-secret" });
    // Rules as the view shows them have the stored address and token.
    expect(await check({ text: "violence", rules: view["rules"] })).toEqual({
      allowed: false,
      masked: false,
      text: "",
      message: expect.stringContaining("hook"),
    });
    const mask = expressions({ pattern: "apollo", action: "mask", replacement: "[name]" });
    const rules = [{ ...mask, stage: "after" }];
    expect(await check({ text: "apollo", rules })).toEqual({ ...allowed, text: "apollo" });
    expect(await check({ text: "apollo", rules, stage: "after" })).toMatchObject({
      allowed: true,
      masked: true,
      text: "[name]",
    });
    expect(await check({ text: "apollo", rules: [{ ...mask, disabled: true }] })).toMatchObject({
      masked: false,
    });
    expect((await admin("GET", "/admin/guardrails")).body).toEqual(view);
  });
});

import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../../../src/core/conversation/conversation.ts";
import { assistant, call, conversation, neverAborted, prepareOptions, result, system } from "../support.ts";
import { answering, provider, request, user, WEATHER } from "./fake.ts";

/** What only this protocol has. What every driver must send is tested in `../requests.test.ts`. */

describe("a request for a message", () => {
  it("has the caller's limit or estimate, else the contract's", async () => {
    expect(await request({})).toMatchObject({ max_tokens: 8192 });
    expect(await request({ expectedTokens: 32_000 })).toMatchObject({ max_tokens: 32_000 });
    expect(await request({ options: { maxTokens: 5.5 }, expectedTokens: 32_000 })).toMatchObject({
      max_tokens: 5,
    });
    expect(await request({ options: { maxTokens: 0 } })).toMatchObject({ max_tokens: 1 });
  });

  it("has a temperature of at most 1, and top_p only without it", async () => {
    expect(await request({ options: { temperature: 1.7 } })).toMatchObject({ temperature: 1 });
    expect(await request({ options: { temperature: 0.5, topP: 0.5 } })).not.toHaveProperty("top_p");
    expect(await request({ options: { topP: 0.5 } })).toMatchObject({ top_p: 0.5 });
  });

  it("begins with the user if the caller sends only a system message", async () => {
    const body = await request({ messages: [system("Sing.")] });
    expect(body["messages"]).toEqual([{ role: "user", content: [{ type: "text", text: "Begin." }] }]);
  });
});

describe("thinking", () => {
  it.each([
    ["minimal", 1024, 9216],
    ["medium", 8192, 16_384],
    ["max", 16_384, 24_576],
  ])("has for the effort %s a budget of %i, beside the answer", async (reasoningEffort, budget, limit) => {
    expect(await request({ thinking: true, options: { reasoningEffort } })).toMatchObject({
      max_tokens: limit,
      thinking: { type: "enabled", budget_tokens: budget },
    });
  });

  it("leaves at least half of the caller's limit to the answer, or is off", async () => {
    const under = (maxTokens: number) => request({ thinking: true, options: { maxTokens } });
    expect(await under(40_000)).toMatchObject({ max_tokens: 40_000, thinking: { budget_tokens: 8192 } });
    expect(await under(3000)).toMatchObject({ max_tokens: 3000, thinking: { budget_tokens: 1500 } });
    expect(await under(2047)).toMatchObject({ max_tokens: 2047, thinking: { type: "disabled" } });
    expect(await request({ thinking: true, expectedTokens: 4096 })).toMatchObject({
      max_tokens: 4096,
      thinking: { budget_tokens: 2048 },
    });
  });

  it("is off for an answer that the caller began", async () => {
    expect(await request({ messages: [user("a"), assistant("b")], thinking: true })).toMatchObject({
      thinking: { type: "disabled" },
      max_tokens: 8192,
    });
  });

  it("stays on if tools are in the prompt", async () => {
    const messages = [user("Weather?"), assistant("", call("a")), result("a", "cold")];
    const body = await request({ messages, tools: [WEATHER], thinking: true }, {}, { toolCalls: "markup" });
    expect(body["thinking"]).toMatchObject({ type: "enabled" });
  });

  it("allows no temperature, and top_p only near 1", async () => {
    const with_ = (topP: number) =>
      request({ thinking: true, options: { temperature: 0.3, topP, stop: ["x"] } });
    expect(await with_(0.5)).not.toHaveProperty("temperature");
    expect(await with_(0.5)).not.toHaveProperty("top_p");
    expect(await with_(0.97)).toMatchObject({ top_p: 0.97, stop_sequences: ["x"] });
  });

  it("cannot force a tool call, and requests it in words", async () => {
    const forced = { tools: [WEATHER], toolChoice: { type: "function", name: "get_weather" } } as const;
    const body = await request({ ...forced, thinking: true });
    expect(body["tool_choice"]).toEqual({ type: "auto" });
    expect(body["system"]).toContain('You must call the tool "get_weather"');
    expect(await request(forced)).not.toHaveProperty("system");
  });
});

describe("a web search without the caller's tools", () => {
  const forbidden = { tools: [WEATHER], toolChoice: { type: "none" }, webSearch: {} } as const;
  const search = { type: "web_search_20250305", name: "web_search" };

  it("is the only tool, because the choice `none` would forbid it, too", async () => {
    const body = await request(forbidden);
    expect(body["tools"]).toEqual([search]);
    expect(body["tool_choice"]).toEqual({ type: "auto" });
  });

  it("stands beside the tools that the history has called", async () => {
    const messages = [
      user("Weather?"),
      assistant("", call("a"), call("b", "{}", "gone")),
      result("a", "cold"),
      result("b", "no"),
    ];
    const unused = { name: "unused", parameters: { type: "object" } };
    const body = await request({ ...forbidden, tools: [WEATHER, unused], messages });
    expect(body["tools"]).toEqual([
      { name: "get_weather", description: WEATHER.description, input_schema: WEATHER.parameters },
      { name: "gone", input_schema: { type: "object" } },
      search,
    ]);
  });
});

describe("attachments", () => {
  it("have their real type, which the protocol checks", async () => {
    const png: Part = {
      type: "image",
      source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/jpeg" },
    };
    const link: Part = { type: "image", source: { kind: "url", url: "https://files.example/a.jpg" } };
    const jpeg = { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), mediaType: "application/octet-stream" };
    const body = await request({ messages: [user(png, link)] }, { fetchAttachment: async () => jpeg });
    expect(body["messages"]).toMatchObject([
      { content: [{ source: { media_type: "image/png" } }, { source: { media_type: "image/jpeg" } }] },
    ]);
  });

  it("are refused if the protocol has no block for them", async () => {
    const archive: Part = {
      type: "file",
      source: { kind: "inline", data: btoa("PK"), mediaType: "application/zip" },
      filename: "a.zip",
    };
    const prepared = provider().prepare(conversation({ messages: [user(archive)] }), prepareOptions());
    await expect(prepared.load?.(neverAborted())).rejects.toMatchObject({ status: 400, param: "messages" });
  });

  it("name a stored file by its id, with the beta header for files", async () => {
    const storedAs = (mediaType: string): Part => ({
      type: "file",
      source: { kind: "file", fileId: "file-here", stored: { id: "file_there", filename: "a", mediaType } },
    });
    const asked = async (...messages: Message[]) => {
      const fake = answering();
      await provider()
        .prepare(conversation({ messages }), prepareOptions())
        .open(fake.account, neverAborted(), null);
      return fake.only("/messages");
    };
    const source = { type: "file", file_id: "file_there" };
    const named = await asked(user(storedAs("image/png")));
    expect(named.json()["messages"]).toEqual([{ role: "user", content: [{ type: "image", source }] }]);
    expect(named.headers.get("anthropic-beta")).toBe("files-api-2025-04-14");
    const returned = await asked(
      user("Look"),
      assistant("", call("c1")),
      result("c1", storedAs("application/pdf")),
    );
    expect(JSON.stringify(returned.json()["messages"])).toContain(
      JSON.stringify({ type: "document", source, title: "a" }),
    );
    expect(returned.headers.get("anthropic-beta")).toBe("files-api-2025-04-14");
    expect((await asked(user("Hello"))).headers.get("anthropic-beta")).toBeNull();
  });
});

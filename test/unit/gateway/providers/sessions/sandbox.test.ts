import { describe, expect, it } from "vitest";
import { SandboxProvider } from "../../../../../sandbox/provider.ts";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import { ProviderError } from "../../../../../src/core/errors/provider-error.ts";
import type { Fetch } from "../../../../../src/core/ports/upstream.ts";
import type { ProviderEvent } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { FollowUp, UpstreamTurn } from "../../../../../src/gateway/providers/answers/upstream-turn.ts";
import { sessionsDriver } from "../../../../../src/gateway/providers/sessions/driver.ts";
import { conversation, neverAborted, prepareOptions, textOfEvents } from "../support.ts";

const sandbox = new SandboxProvider();
const fetch: Fetch = (url, init) => sandbox.fetch(new Request(url, init));
const account = { token: "sandbox-token-driver", fetch };
const provider = sessionsDriver.create({
  baseUrl: "http://sandbox.test",
  token: "none",
  models: {},
  toolCalls: "native",
  wholeAnswers: true,
  newId: () => crypto.randomUUID(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
});

async function read(turn: UpstreamTurn): Promise<ProviderEvent[]> {
  if (!("body" in turn)) throw new Error("the sandbox always streams");
  const events: ProviderEvent[] = [];
  for await (const bytes of turn.body) events.push(...turn.decoder.push(bytes));
  events.push(...turn.decoder.finish());
  return events;
}

async function ask(
  text: string,
  followUp: FollowUp | null = null,
  changes: Parameters<typeof conversation>[0] = {},
) {
  const messages: Message[] = [{ role: "user", parts: [{ type: "text", text }] }];
  const prepared = provider.prepare(conversation({ messages, ...changes }), prepareOptions());
  const turn = await prepared.open(account, neverAborted(), followUp);
  return { turn, events: await read(turn) };
}

async function failure(text: string): Promise<unknown> {
  const error: unknown = await ask(text).catch((thrown: unknown) => thrown);
  return error instanceof ProviderError ? error.kind : error;
}

describe("the sessions driver before the sandbox provider", () => {
  it.each([
    "",
    "[[bytes:1]]",
    "[[bytes:7]]",
    "[[crlf]]",
    "[[comments]]",
    "[[multiline]]",
    "[[chunk:1]][[crlf]][[bytes:3]]",
  ])("reads an answer that is written as %j", async (directives) => {
    const { events } = await ask(`${directives}[[say:größe 漢字 😀\\nend]]`, null, { thinking: true });
    expect(textOfEvents(events, "text")).toBe("größe 漢字 😀\nend");
    expect(textOfEvents(events, "reasoning")).not.toBe("");
    expect(events[0]).toMatchObject({ type: "start" });
    expect(events.at(-2)).toMatchObject({ type: "usage", usage: { prompt: expect.any(Number) } });
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  it("reads a line of more than 1 MiB", async () => {
    const { events } = await ask("[[longline]]");
    expect(textOfEvents(events, "text").length).toBeGreaterThan(1024 * 1024);
  });

  it("reads search results", async () => {
    const { events } = await ask("[[citations]]", null, { model: "provider-v4-flash-search" });
    expect(events).toContainEqual(expect.objectContaining({ type: "search" }));
  });

  it.each([
    ["[[cut]]", "cut"],
    ["[[cut:0]]", "cut"],
    ["[[garbage]]", "malformed"],
    ["[[error:rate_limited]]", "rate_limited"],
    ["[[error:model_unavailable:0]]", "model_unavailable"],
    ["[[status:500:server_error]]", "server_error"],
    ["[[status:429:rate_limited]]", "rate_limited"],
    ["[[expired:always]]", "token_expired"],
  ])("recognizes the fault %s", async (directive, kind) => {
    expect(await failure(`${directive}[[say:one two three four five six]]`)).toBe(kind);
  });

  it("continues an incomplete message to its end", async () => {
    const { turn, events } = await ask("[[incomplete:2]][[say:one two three four five six]]");
    let text = textOfEvents(events, "text");
    const start = events.find((event) => event.type === "start");
    let last = events.at(-1);
    for (let round = 0; round < 2; round += 1) {
      expect(last).toEqual({ type: "finish", reason: "incomplete" });
      const messageId = start?.type === "start" ? start.messageId : "";
      const more = await read(await provider.resume(account, turn.sessionId, messageId, neverAborted()));
      text += textOfEvents(more, "text");
      last = more.at(-1);
    }
    expect(last).toEqual({ type: "finish", reason: "stop" });
    expect(text).toBe("one two three four five six");
  });

  it("follows up an empty message in its session", async () => {
    const { turn, events } = await ask("[[empty]] what now");
    expect(textOfEvents(events, "text")).toBe("");
    const [start] = events;
    const parentMessageId = start?.type === "start" ? start.messageId : "";
    const again = await ask("[[empty]] what now", {
      sessionId: turn.sessionId,
      parentMessageId,
      suffix: "Answer.",
    });
    expect(textOfEvents(again.events, "text")).toContain("what now");
  });

  it("carries a tool round trip", async () => {
    const tools = [
      { name: "get_time", parameters: { type: "object", properties: { zone: { type: "string" } } } },
    ];
    const first = await ask("Use the tool get_time", null, { tools });
    expect(textOfEvents(first.events, "text")).toContain('name="get_time"');
    const messages: Message[] = [
      { role: "user", parts: [{ type: "text", text: "Use the tool get_time" }] },
      {
        role: "assistant",
        parts: [],
        toolCalls: [{ id: "c1", name: "get_time", arguments: '{"zone":"UTC"}' }],
      },
      { role: "tool", callId: "c1", parts: [{ type: "text", text: "It is noon." }] },
    ];
    const second = await ask("", null, { tools, messages });
    expect(textOfEvents(second.events, "text")).toContain("It is noon.");
  });

  it("uploads what is attached", async () => {
    const messages: Message[] = [
      {
        role: "user",
        parts: [
          { type: "text", text: "Look" },
          { type: "image", source: { kind: "inline", data: btoa("PNG"), mediaType: "image/png" } },
          {
            type: "file",
            source: { kind: "inline", data: btoa("%PDF"), mediaType: "application/pdf" },
            filename: "pending.pdf",
          },
        ],
      },
    ];
    const { events } = await ask("", null, { model: "provider-v4-vision", messages });
    expect(textOfEvents(events, "text")).toMatch(/image\.png \(3 bytes\)[\s\S]*pending\.pdf \(4 bytes\)/);
  });

  it("signs in, looks, and cleans up", async () => {
    const credentials = { email: "driver@sandbox.test", mobile: "", password: "sandbox", token: "" };
    const signal = neverAborted();
    const { token, expiresAt } = await provider.signIn(credentials, fetch, signal);
    expect(expiresAt).toBeGreaterThan(Date.now() / 1000);
    const mine = { token, fetch };
    const id = await provider.sessions.create(mine, signal);
    await provider.sessions.create(mine, signal);
    expect((await provider.checkAccount(mine, signal)).sessionCount).toBe(2);
    await provider.sessions.delete(mine, id, signal);
    expect(await provider.sessions.deleteAll(mine, signal)).toBe(1);
    const wrong = provider.signIn({ ...credentials, password: "no" }, fetch, signal);
    await expect(wrong).rejects.toMatchObject({ kind: "invalid_credentials" });
    const suspended = provider.signIn({ ...credentials, email: "suspended@sandbox.test" }, fetch, signal);
    await expect(suspended).rejects.toMatchObject({ kind: "account_suspended" });
  });
});

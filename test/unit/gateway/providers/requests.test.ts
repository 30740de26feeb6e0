import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../../src/core/conversation/conversation.ts";
import { anthropicRequests } from "./anthropic/request-row.ts";
import { geminiRequests } from "./gemini/request-row.ts";
import { openaiRequests } from "./openai/request-row.ts";
import { openaiResponsesRequests } from "./openai-responses/request-row.ts";
import { LINKED, REQUEST_CASES, type RequestCase, type RequestCaseName } from "./request-cases.ts";
import {
  assistant,
  call,
  conversation,
  neverAborted,
  prepareOptions,
  readTurn,
  result,
  SECRET,
  system,
  text,
  user,
  WEATHER,
} from "./support.ts";

/** What every driver of a backend with an API key must send. What only one protocol has is tested in `<driver>/request.test.ts`. */
const ROWS = [openaiRequests, openaiResponsesRequests, anthropicRequests, geminiRequests];
const CASES = Object.keys(REQUEST_CASES).filter((name): name is RequestCaseName => name in REQUEST_CASES);

const INJECTION = "Think hard.";

describe.each(ROWS)("a request of the $name driver", (row) => {
  const { answering, provider, request } = row.keyed;

  it("is sent with the key, and its answer is read", async () => {
    const fake = answering();
    const turn = await provider()
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    const [sent] = fake.seen;
    expect(sent?.json()).toEqual(row.plain);
    expect(Object.fromEntries(sent?.headers ?? [])).toMatchObject(row.keyHeaders);
    expect([...(sent?.headers ?? [])].filter(([, value]) => value.includes(SECRET))).toHaveLength(1);
    expect(turn.sessionId).toBe("made1");
    expect((await readTurn(turn)).events.map(({ type }) => type)).toContain("text");
  });

  it.each(row.addresses)("is sent for the base %s to %s", async (baseUrl, address) => {
    const fake = answering();
    await provider({ baseUrl })
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(fake.seen.map(({ url }) => url)).toEqual([address]);
  });

  it.each([
    ["provider-v4-pro", "big-model"],
    ["o1", "big-model"],
    ["gpt-4o", "provider-v4-flash"],
    ["provider-v4-vision", "provider-v4-vision"],
  ])("names the model %s as the backend does: %s", async (model, name) => {
    const fake = answering();
    await provider()
      .prepare(conversation({ model }), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(fake.seen.map(row.modelOf)).toEqual([name]);
  });

  it.each(CASES)("%s", async (name) => {
    const { changes, settings, suffix }: RequestCase = REQUEST_CASES[name];
    const fetched: string[] = [];
    const fetchAttachment = async (url: string) => {
      fetched.push(url);
      return LINKED[url] ?? Promise.reject(new Error(`no test knows ${url}`));
    };
    const options = { thinkingInjection: INJECTION, fetchAttachment };
    expect(await request(changes, options, settings, suffix)).toEqual({ ...row.plain, ...row.changes[name] });
    expect(new Set(fetched).size).toBe(fetched.length);
  });

  it("of a follow-up turn stays in the session", async () => {
    const followUp = { sessionId: "s1", parentMessageId: "m1", suffix: "x" };
    const prepared = provider().prepare(conversation(), prepareOptions());
    expect((await prepared.open(answering().account, neverAborted(), followUp)).sessionId).toBe("s1");
  });

  it.each([
    ["calls are native", true, "native", INJECTION],
    ["the model does not think", false, "markup", INJECTION],
    ["there is none", true, "markup", null],
  ] as const)("has no thinking injection if %s", async (_, thinking, toolCalls, thinkingInjection) => {
    const body = await request({ thinking }, { thinkingInjection }, { toolCalls });
    expect(JSON.stringify(body)).not.toMatch(/Think hard|null/);
  });

  it("keeps the digits of numbers in earlier calls", async () => {
    const fake = answering();
    const numbers = '{"id":1234567890123456789,"part":1.0}';
    const messages = [user("ASKED"), assistant("", call("a", numbers)), result("a", "RESULT")];
    await provider()
      .prepare(conversation({ messages, tools: [WEATHER] }), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(fake.seen.map(({ body }) => body.replaceAll("\\", ""))).toEqual([
      expect.stringContaining(numbers),
    ]);
  });

  it("is estimated from everything that the model reads", () => {
    const messages = [
      system("SYSTEM"),
      assistant("SAID", call("a", '{"ARG":1}', "NAME")),
      result("a", "RESULT"),
      user("ASKED"),
    ];
    const { promptText } = provider().prepare(conversation({ messages, tools: [WEATHER] }), prepareOptions());
    for (const piece of ["SYSTEM", "SAID", "NAME", "ARG", "RESULT", "ASKED", "Looks outside."]) {
      expect(promptText).toContain(piece);
    }
  });

  it("may have very many parts and messages", async () => {
    const parts = Array.from({ length: 200_000 }, () => text("ö"));
    const messages: Message[] = [
      ...parts.map(() => system("ö")),
      { role: "user", parts },
      { role: "assistant", parts, toolCalls: [] },
      user("Hi"),
    ];
    const body = JSON.stringify(await request({ messages }));
    expect(body.split("ö")).toHaveLength(600_001);
  });

  it("is refused with an attachment that is broken", () => {
    const broken: Part = { type: "image", source: { kind: "inline", data: "§", mediaType: "image/png" } };
    expect(() => provider().prepare(conversation({ messages: [user(broken)] }), prepareOptions())).toThrow(
      expect.objectContaining({ status: 400, param: "messages" }),
    );
  });
});

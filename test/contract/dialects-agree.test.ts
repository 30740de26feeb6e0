import { describe, expect, it } from "vitest";
import {
  COMPLETIONS_CLIENT,
  DIALECT_CLIENTS,
  type DialectClient,
  isPrompt,
  type Step,
  type Talk,
} from "../support/dialect-clients.ts";
import { useGateway } from "../support/use-gateway.ts";

const api = useGateway({ vars: { IDLE_TIMEOUT_MS: "500" } });

const WEATHER = {
  name: "get_weather",
  description: 'Tells the weather of a city <example>like "this"</example>',
  schema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { city: { type: "string" }, days: { type: "array", items: { type: "integer" } } },
    required: ["city"],
    additionalProperties: false,
  },
};
const CLOCK = { name: "clock", description: "Tells the time", schema: { type: "object", properties: {} } };

const user = (text: string): Step => ({ user: text });
const ROUND_TRIP: Step[] = [
  user("What is the weather in Rome and in Oslo?"),
  {
    assistant: "Let me see.",
    calls: [
      { id: "call_1", name: "get_weather", input: { city: "Rome", days: [1, 2] } },
      { id: "call_2", name: "get_weather", input: { city: "Oslo" } },
    ],
  },
  { result: "25 degrees", id: "call_1", name: "get_weather" },
  { result: '{"degrees": 9}', id: "call_2", name: "get_weather" },
];

const corpus: Record<string, Talk> = {
  "a question": { steps: [user("[[say:Hello there.]][[think:hm]]")] },
  "a system prompt": { system: "Be kind.\nBe brief.", steps: [user("hello")] },
  "several turns": {
    steps: [user("My name is Ada."), { assistant: "Hello Ada." }, user("[[say:You are Ada.]]")],
  },
  "markup without tools is text": { steps: [user('[[call:get_weather:{"city":"Rome"}]]')] },
  "one call": { tools: [WEATHER], steps: [user('[[call:get_weather:{"city":"Rome"}]]')] },
  "two calls of the same tool": {
    tools: [WEATHER],
    steps: [user('[[call:get_weather:{"city":"Rome","days":[1,2]}]][[call:get_weather:{"city":"Oslo"}]]')],
  },
  "calls amid text": {
    tools: [WEATHER, CLOCK],
    steps: [user('[[text-and-call]][[call:get_weather:{"city":"Rome"}]][[call:clock]]')],
  },
  "a call in the reasoning": { tools: [CLOCK], steps: [user("[[call-in-reasoning]][[call:clock]]")] },
  "a drifted call": { tools: [CLOCK], steps: [user("[[drift:fullwidth-brackets]][[call:clock]]")] },
  "results of two calls": { system: "Be kind.", tools: [WEATHER], steps: ROUND_TRIP },
  "a question after the results": {
    tools: [WEATHER],
    steps: [...ROUND_TRIP, { assistant: "Warm and cold." }, user("[[say:Both are fine.]]")],
  },
  "an answer cut short": { steps: [user("[[say:One two three]][[length]]")] },
  "an answer in pieces": { steps: [user("[[say:One two three four five six]][[incomplete:2]]")] },
  "an empty first try": { steps: [user("[[empty]][[say:Now.]]")] },
  "no counts from the provider": { steps: [user("[[say:One two three]][[nousage]]")] },
  "letters of many bytes, torn": { steps: [user("[[say:zażółć gęślą jaźń 🙂 漢字]][[bytes:1]]")] },
};

async function ask(client: DialectClient, talk: Talk, stream: boolean) {
  const response = await client.send(api, talk, stream);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
  return { completion, turn: await api.gateway.sandbox.lastTurn() };
}

describe("all dialects come to the same", () => {
  it.each(Object.entries(corpus))("%s", async (_, talk) => {
    const [chat, ...others] = DIALECT_CLIENTS;
    if (chat === undefined) throw new Error("there is no dialect");
    const expected = await ask(chat, talk, true);
    expect(expected.completion.error).toBeNull();
    const whole = await ask(chat, talk, false);
    // Beside calls a chat completion has no text (contract); its stream passes it through.
    const silent = whole.completion.toolCalls.length > 0 ? { text: expected.completion.text } : {};
    expect({ ...whole.completion, ...silent }).toEqual(expected.completion);
    for (const client of others) {
      for (const stream of [true, false]) {
        const given = await ask(client, talk, stream);
        expect(given.turn.prompt, client.name).toBe(expected.turn.prompt);
        expect(given.completion, `${client.name}, stream: ${stream}`).toEqual(expected.completion);
      }
    }
  });
});

describe("a prompt is completed with what a question is answered with", () => {
  it.each(Object.entries(corpus).filter(([, talk]) => isPrompt(talk)))("%s", async (_, talk) => {
    const [chat] = DIALECT_CLIENTS;
    if (chat === undefined) throw new Error("there is no dialect");
    const { text, toolCalls, finish, error } = (await ask(chat, talk, false)).completion;
    for (const stream of [true, false]) {
      const { completion } = await ask(COMPLETIONS_CLIENT, talk, stream);
      expect(completion, `stream: ${stream}`).toMatchObject({
        text,
        reasoning: "",
        toolCalls,
        finish,
        error,
      });
    }
  });
});

describe("no dialect takes a failure for success", () => {
  it.each(["[[cut:6]]", "[[reset:6]]", "[[garbage:6]]", "[[error:server_error:6]]", "[[hang:6]]"])(
    "%s in mid-stream",
    async (fault) => {
      const talk = { steps: [user(`[[big:400]][[chunk:20]]${fault}`)] };
      for (const client of [...DIALECT_CLIENTS, COMPLETIONS_CLIENT]) {
        const response = await client.send(api, talk, true);
        const completion = client.streamed(await response.text());
        expect(completion, client.name).toMatchObject({
          error: expect.any(String),
          finish: null,
          usage: null,
        });
        expect((await client.send(api, talk, false)).status, client.name).toBe(503);
      }
    },
  );
});

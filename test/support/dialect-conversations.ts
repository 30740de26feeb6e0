import type { DialectConversation, Step } from "./dialect-clients.ts";

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

/** The start of a call, without its end. */
const half = (city: string) =>
  `[[say:<|TCML|tool_calls><|TCML|invoke name="get_weather"><|TCML|parameter name="city"><![CDATA[${city}]]`;

/** Makes the sandbox start a call of the tool `weather` and stop within it. */
export const CUT_CALL =
  '[[say:<|TCML|tool_calls><|TCML|invoke name="weather"><|TCML|parameter name="city"><![CDATA[Ro]]';

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

/** Conversations that cover everything that a dialect or a driver must carry. */
export const DIALECT_CONVERSATIONS: Readonly<Record<string, DialectConversation>> = {
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
  "an answer withheld": { steps: [user("[[say:One two three]][[content_filter]]")] },
  "no room left for an answer": { steps: [user("[[think:hm]][[say:]][[length]]")] },
  "a call cut short": { tools: [WEATHER], steps: [user(`${half("Osl")}[[length]]`)] },
  "a call cut short, said to be whole": { tools: [WEATHER], steps: [user(half("Osl"))] },
  "a call withheld behind another": {
    tools: [WEATHER],
    steps: [user(`[[say:Both.]][[call:get_weather:{"city":"Rome"}]]${half("Osl")}[[content_filter]]`)],
  },
  "a call cut short behind two": {
    tools: [WEATHER, CLOCK],
    steps: [user(`[[call:get_weather:{"city":"Rome"}]][[call:clock]]${half("Osl")}[[length]]`)],
  },
  "a whole call, and no room left": {
    tools: [WEATHER],
    steps: [user('[[call:get_weather:{"city":"Rome"}]][[say:And on]][[length]]')],
  },
  "an answer in pieces": { steps: [user("[[say:One two three four five six]][[incomplete:2]]")] },
  "an empty first try": { steps: [user("[[empty]][[say:Now.]]")] },
  "no counts from the provider": { steps: [user("[[say:One two three]][[nousage]]")] },
  "letters of many bytes, torn": { steps: [user("[[say:zażółć gęślą jaźń 🙂 漢字]][[bytes:1]]")] },
};

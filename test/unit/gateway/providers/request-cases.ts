import type { Message, Part } from "../../../../src/core/conversation/conversation.ts";
import type { ProviderOptions } from "../../../../src/gateway/providers/driver.ts";
import type { ConversationChanges } from "../../../support/conversations.ts";
import type { keyed } from "./keyed.ts";
import { assistant, call, result, type Seen, system, text, user, utf8, WEATHER } from "./support.ts";

/** A conversation, and the settings that it is sent with. */
export interface RequestCase {
  readonly changes: ConversationChanges;
  readonly settings?: Partial<ProviderOptions>;
  /** The text of a follow-up turn. */
  readonly suffix?: string;
}

const inline = (mediaType: string, data: string) => ({ kind: "inline", data, mediaType }) as const;
const link = (name: string) => ({ kind: "url", url: `https://files.example/${name}` }) as const;

export const PNG = "iVBORw0KGgo=";
export const PDF = btoa("%PDF-1.7");
const image: Part = { type: "image", source: inline("image/png", PNG), detail: "low" };

/** What the links of the cases lead to. */
export const LINKED: Readonly<Record<string, { bytes: Uint8Array; mediaType: string }>> = {
  "https://files.example/a.jpg": { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), mediaType: "image/jpeg" },
  "https://files.example/a.pdf": { bytes: utf8("%PDF-1.7"), mediaType: "application/pdf" },
  "https://files.example/a.php": {
    bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0),
    mediaType: "application/octet-stream",
  },
  "https://files.example/a.txt": { bytes: utf8("größe"), mediaType: "text/plain" },
};

const messages = (...said: Message[]): RequestCase => ({ changes: { messages: said } });
const thinking = (options: ConversationChanges["options"] = {}): RequestCase => ({
  changes: { thinking: true, options },
});
const choice = (toolChoice: NonNullable<ConversationChanges["toolChoice"]>): RequestCase => ({
  changes: { tools: [WEATHER], toolChoice },
});
const schema = { type: "object" };

/** What every driver can be asked for. The row of a driver has the request that it then sends. */
export const REQUEST_CASES = {
  "states the options that the protocol knows": {
    changes: {
      options: {
        temperature: 0,
        topP: 0.9,
        topK: 4,
        minP: 0.1,
        seed: 5,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        logitBias: { "1": 2 },
        stop: ["x", "\n"],
        maxTokens: 9,
        verbosity: "low",
        user: "ada",
        promptCacheKey: "k",
      },
    },
  },
  "asks for log probabilities": { changes: { options: { logprobs: 3 } } },
  "asks for log probabilities without alternatives": { changes: { options: { logprobs: 0 } } },

  "asks for no thoughts of a model that has none": {
    changes: { model: "provider-v4-pro-nothinking", thinking: true, options: { reasoningEffort: "high" } },
  },
  "asks for thoughts": thinking(),
  "asks for thoughts with little effort": thinking({ reasoningEffort: "low" }),
  "asks for thoughts with much effort": thinking({ reasoningEffort: "high" }),
  "asks for thoughts within a small budget": thinking({ thinkingBudget: 1024 }),
  "asks for thoughts within a budget": thinking({ thinkingBudget: 8000 }),
  "asks for thoughts within a large budget": thinking({ thinkingBudget: 32_000 }),
  "asks for thoughts with an effort and a budget": thinking({
    reasoningEffort: "high",
    thinkingBudget: 1024,
  }),

  "asks for JSON": { changes: { responseFormat: { type: "json" } } },
  "asks for JSON of a schema": { changes: { responseFormat: { type: "json-schema", schema } } },
  "asks for JSON that keeps to a named schema": {
    changes: { responseFormat: { type: "json-schema", name: "My answer", schema, strict: true } },
  },
  "asks for a search": {
    changes: {
      webSearch: {
        contextSize: "low",
        allowedDomains: ["a.example"],
        blockedDomains: ["b.example"],
        location: { city: "Oslo", country: "NO" },
      },
    },
  },

  "keeps the order of messages, and what they say": messages(
    system("One.", "Two."),
    system("Three."),
    { role: "user", parts: [text("Hi")], name: "alice" },
    user("You there?", ""),
    { role: "assistant", parts: [text("Hm")], reasoning: "thought", toolCalls: [] },
    assistant("Well"),
    system("Late."),
    user("<a & b>\n### Go on"),
  ),
  "asks for an answer to nothing": messages(user("  ")),
  "begins with an answer": messages(assistant("Hello!"), user("Hi")),
  "ends with an answer that was begun": messages(user("Count"), assistant("One, \n")),

  "sends calls and their results": messages(
    user("Weather?"),
    assistant("Let me see", call("a", '{"city":"Oslo"}'), call("b")),
    result("b", "cold", "wet"),
    { role: "tool", callId: "a", parts: [text("broken")], isError: true },
    assistant("", call("c")),
    result("c"),
    user("So?"),
  ),
  "sends calls without a result, and results without a call": messages(
    user("x"),
    assistant("", call("a"), call("b")),
    result("a", "1"),
    result("a", "again"),
    assistant("", call("c")),
    user("Stop"),
    assistant("", call("d")),
  ),
  "sends calls that share an id": messages(
    user("x"),
    ...[1, 2].flatMap(() => [assistant("", call("f.f:0")), result("f.f:0", "1")]),
  ),
  "sends calls of one answer that share an id": messages(
    user("x"),
    assistant("", call("f", '{"n":1}'), call("g"), call("f", '{"n":2}'), call("f", '{"n":3}')),
    result("f", "1"),
    result("f", "2"),
    result("g", "0"),
    assistant("", call("f"), call("f")),
    result("f", "4"),
    result("f", "5"),
    result("f", "surplus"),
  ),
  "sends arguments that are broken, or have a number that is too large": messages(
    user("x"),
    assistant("", call("a", '{"n":1e400}'), call("b", '{"cut')),
    result("a", "1"),
    result("b", "2"),
  ),

  "ends with the suffix of a follow-up turn": { changes: {}, suffix: "\n\nSay it." },
  "ends with the suffix of a follow-up turn behind a result": {
    ...messages(user("x"), assistant("", call("a")), result("a", "1")),
    suffix: "Say it.",
  },
  "carries the thinking injection in the last words of the user": {
    changes: {
      messages: [user("First"), assistant("x"), user("Second"), assistant("y")],
      thinking: true,
    },
    settings: { toolCalls: "markup" },
  },

  "passes tools": {
    changes: {
      tools: [WEATHER, { ...WEATHER, name: "strict", strict: true }, { name: "bare" }],
      parallelToolCalls: false,
    },
  },
  "lets the model choose a tool": choice({ type: "auto" }),
  "forbids tools": choice({ type: "none" }),
  "demands a call": choice({ type: "required" }),
  "demands a call of one tool": choice({ type: "function", name: "get_weather" }),
  "writes tools into the prompt for a backend that knows none": {
    changes: {
      tools: [WEATHER],
      responseFormat: { type: "json" },
      messages: [
        system("Be brief."),
        user("Weather?"),
        assistant("Let me see", call("a", '{"city":"Oslo"}')),
        { role: "tool", callId: "a", name: "get_weather", parts: [text("cold")] },
        { role: "tool", callId: "b", parts: [text("no")], isError: true },
      ],
    },
    settings: { toolCalls: "markup" },
  },

  "sends attachments, and fetches those behind links": messages(
    user(
      "See",
      image,
      { type: "image", source: link("a.jpg") },
      { type: "image", source: link("a.jpg") },
      { type: "file", source: link("a.pdf") },
      { type: "file", source: link("a.txt") },
      // The name looks like that of a text, but it is an image.
      { type: "file", source: link("a.php") },
      { type: "file", source: inline("application/pdf", PDF), filename: "b.pdf" },
      { type: "file", source: inline("text/plain", btoa("note")), filename: "n.txt" },
    ),
  ),
  "sends attachments that a tool returned": messages(
    user("Look"),
    assistant("", call("a"), call("b")),
    result("a", "shot", image),
    result("b", "none"),
    user("Well?"),
  ),
  "names files that the backend stores": messages(
    user(
      {
        type: "file",
        source: {
          kind: "file",
          fileId: "file-here",
          stored: {
            id: "there",
            uri: "https://backend.example/v1beta/files/there",
            filename: "a.pdf",
            mediaType: "application/pdf",
          },
        },
      },
      { type: "image", source: { kind: "file", fileId: "own" } },
    ),
  ),
} satisfies Record<string, RequestCase>;

export type RequestCaseName = keyof typeof REQUEST_CASES;

/** What a driver sends: the wire data for `requests.test.ts`. */
export interface RequestRow {
  readonly name: string;
  readonly keyed: ReturnType<typeof keyed>;
  /** The headers with the key. */
  readonly keyHeaders: Readonly<Record<string, string>>;
  readonly addresses: readonly (readonly [baseUrl: string, address: string])[];
  /** The backend's name of the model that a request asks for. */
  modelOf(request: Seen): unknown;
  /** The body of a request that wants nothing in particular. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** For each case, the members of the body that differ from `plain`; undefined: the member is missing. */
  readonly changes: Readonly<Record<RequestCaseName, Readonly<Record<string, unknown>>>>;
}

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { canonicalMessage, validateMessagesStream } from "../../../support/stream-validators/messages.ts";
import { validateResponsesStream } from "../../../support/stream-validators/responses.ts";

/** What a provider's web search searched for, for callers of another protocol. */

const createGateway = useMemoryGateway();

const page = { url: "https://news.example/a", title: "News" };
const sse = (...events: object[]) =>
  events.map((each) => `event: ${Object(each).type}\ndata: ${JSON.stringify(each)}\n\n`).join("");
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const result = { type: "web_search_tool_result", content: [{ type: "web_search_result", ...page }] };
const search = { type: "server_tool_use", id: "s", name: "web_search" };
const action = { type: "search", query: "what is new", sources: [{ type: "url", url: page.url }] };
const output = [
  { type: "web_search_call", id: "ws", status: "completed", action },
  {
    type: "message",
    id: "m",
    role: "assistant",
    content: [{ type: "output_text", text: "Much.", annotations: [] }],
  },
];

const CASES = {
  "anthropic, whole": [
    "anthropic",
    JSON.stringify({
      content: [{ ...search, input: { query: "what is new" } }, result, { type: "text", text: "Much." }],
      stop_reason: "end_turn",
    }),
  ],
  "anthropic, streamed": [
    "anthropic",
    sse(
      { type: "message_start", message: { id: "msg", content: [] } },
      ...block(
        0,
        { ...search, input: {} },
        { type: "input_json_delta", partial_json: '{"query": "what' },
        { type: "input_json_delta", partial_json: ' is new"}' },
      ),
      ...block(1, result),
      ...block(2, { type: "text", text: "" }, { type: "text_delta", text: "Much." }),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ),
  ],
  "openai-responses, whole": ["openai-responses", JSON.stringify({ status: "completed", output })],
  "openai-responses, streamed": [
    "openai-responses",
    sse(...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })), {
      type: "response.completed",
      response: { status: "completed", output },
    }),
  ],
} as const;

const GEMINI = {
  candidates: [
    {
      content: { role: "model", parts: [{ text: "Much." }] },
      finishReason: "STOP",
      groundingMetadata: {
        webSearchQueries: ["what is new"],
        groundingChunks: [{ web: { uri: page.url, title: page.title } }],
      },
    },
  ],
};

const ALL_CASES = {
  ...CASES,
  "gemini, whole": ["gemini", JSON.stringify(GEMINI)],
  "gemini, streamed": ["gemini", `data: ${JSON.stringify(GEMINI)}\n\n`],
} as const;

/** A gateway whose provider answers with a text. */
async function withProvider(driver: string, text: string) {
  const type = text.startsWith("{") ? "application/json" : "text/event-stream";
  return createGateway({
    upstream: new ScriptedUpstream(() => ({ type, body: [text] })),
    config: { providers: [{ id: "v", driver, base_url: "http://v.test/v1", token: "sk-account" }] },
  });
}

/**
 * A `fetch` for an SDK, whose requests reach the gateway. Each answer is read whole, because SDKs leave the end of a stream.
 * Streams must be valid.
 */
const fetchOf =
  (gateway: MemoryGateway, validateStream: (text: string) => object) =>
  async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(String(address));
    const answer = await gateway.post(pathname, JSON.parse(String(init.body)));
    const text = await answer.text();
    if (!text.startsWith("{")) validateStream(text);
    return new Response(text, answer);
  };

describe("the query of a web search", () => {
  test.each(Object.entries(ALL_CASES))(
    "reaches callers of the content-generation style: %s",
    async (name, [driver, text]) => {
      const gateway = await withProvider(driver, text);
      const response = await gateway.post("/v1beta/models/v/m:generateContent", {
        contents: [{ role: "user", parts: [{ text: "What is new?" }] }],
        tools: [{ googleSearch: {} }],
      });
      if (name === "gemini, streamed") return expect(response.status).toBe(200);
      const { candidates } = JSON.parse(await response.text());
      expect(candidates[0].groundingMetadata).toMatchObject({
        webSearchQueries: ["what is new"],
        groundingChunks: [{ web: { uri: page.url } }],
      });
    },
  );

  const foreign = (driver: string) => Object.entries(ALL_CASES).filter(([, [own]]) => own !== driver);

  test.each(foreign("anthropic"))("is a block of the message style: %s", async (_, [driver, text]) => {
    const gateway = await withProvider(driver, text);
    const client = new Anthropic({
      apiKey: "sk",
      baseURL: "http://gateway.test/anthropic",
      fetch: fetchOf(gateway, validateMessagesStream),
    });
    const request = {
      model: "v/m",
      max_tokens: 100,
      messages: [{ role: "user" as const, content: "What is new?" }],
      tools: [{ type: "web_search_20250305" as const, name: "web_search" as const }],
    };
    const whole = await client.messages.create(request);
    canonicalMessage(whole);
    const streamed = await client.messages.stream(request).finalMessage();
    for (const { content } of [whole, streamed]) {
      const call = content.find((block) => block.type === "server_tool_use");
      expect(call).toMatchObject({ name: "web_search", input: { query: "what is new" } });
      expect(content.find((block) => block.type === "web_search_tool_result")).toMatchObject({
        tool_use_id: call?.id,
        content: [{ type: "web_search_result", url: page.url }],
      });
      expect(content.filter((block) => block.type === "text").map((block) => block.text)).toEqual(["Much."]);
    }
    // The caller sends its answer back with its next question.
    const messages = [
      ...request.messages,
      { role: "assistant" as const, content: streamed.content },
      { role: "user" as const, content: "And then?" },
    ];
    expect((await client.messages.create({ ...request, messages })).stop_reason).toBe("end_turn");
    const { tools: _tools, ...withoutSearch } = request;
    const types = (await client.messages.create(withoutSearch)).content.map(({ type }) => type);
    expect(types).toEqual(["text"]);
  });

  test.each(foreign("openai-responses"))(
    "is an item of the responses style: %s",
    async (_, [driver, text]) => {
      const gateway = await withProvider(driver, text);
      const client = new OpenAI({
        maxRetries: 0,
        apiKey: "sk",
        baseURL: "http://gateway.test/v1",
        fetch: fetchOf(gateway, validateResponsesStream),
      });
      const request = { model: "v/m", input: "What is new?", tools: [{ type: "web_search" as const }] };
      const ids: string[] = [];
      const whole = await client.responses.create(request);
      const stream = client.responses.stream(request);
      // The SDK sends the request in a timer.
      await pass(1);
      const streamed = await stream.finalResponse();
      for (const { id, output, output_text } of [whole, streamed]) {
        expect(output_text).toBe("Much.");
        expect(output.find(({ type }) => type === "web_search_call")).toMatchObject({
          id: expect.stringMatching(/^ws_/),
          status: "completed",
          action: {
            type: "search",
            queries: ["what is new"],
            sources: [{ type: "url", url: page.url }],
          },
        });
        ids.push(id);
      }
      // The caller continues both answers, by their ids and with their items.
      const follow = async (body: object) => {
        const answer = await gateway.post("/v1/responses", { model: "v/m", input: "And then?", ...body });
        await answer.text();
        return answer.status;
      };
      for (const previous_response_id of ids) expect(await follow({ previous_response_id })).toBe(200);
      expect(await follow({ input: [...whole.output, { role: "user", content: "And then?" }] })).toBe(200);
      const plain = await (
        await gateway.post("/v1/responses", { model: "v/m", input: "What is new?" })
      ).json();
      expect(Object(plain).output.map(({ type }: { type: string }) => type)).toEqual(["message"]);
    },
  );
});

describe("a search that the gateway wrote is left out of later requests to a provider of the caller's protocol", () => {
  const ask = async (driver: string, path: string, body: object) => {
    const gateway = await withProvider(
      driver,
      CASES[driver === "anthropic" ? "anthropic, whole" : "openai-responses, whole"][1],
    );
    const answer = await gateway.post(path, { model: "v/m", ...body });
    await answer.text();
    expect([answer.status, answer.headers.get("x-gateway-path")]).toEqual([200, "native"]);
    return gateway.upstream.asked.findLast(({ method }) => method === "POST")?.json();
  };
  const question = { role: "user", content: "What is new?" };
  const id = "srvtoolu_0123456789abcdef01234567";
  const call = { type: "server_tool_use", id, name: "web_search", input: {} };
  const pages = [{ type: "web_search_result", ...page, encrypted_content: "", page_age: null }];
  const found = { type: "web_search_tool_result", tool_use_id: id, content: pages };
  const citation = { type: "web_search_result_location", ...page, encrypted_index: "", cited_text: "Much." };

  test("messages", async () => {
    const ownCall = { ...call, id: "srvtoolu_01WYG3ziw53XMcoyKL4XcZmE" };
    const ownResult = { ...found, tool_use_id: ownCall.id, content: [] };
    const text = { type: "text", text: "Much." };
    const cited = { ...text, citations: [citation] };
    const sent = await ask("anthropic", "/v1/messages", {
      messages: [
        question,
        { role: "assistant", content: [call, found] },
        { role: "assistant", content: [cited, call, found, ownCall, ownResult] },
        question,
      ],
    });
    expect(sent?.["messages"]).toEqual([
      question,
      { role: "assistant", content: [text, ownCall, ownResult] },
      question,
    ]);
  });

  test("responses", async () => {
    const theirs = { type: "web_search_call", id: "ws_1", status: "completed", action };
    const own = { ...theirs, id: "ws_0123456789abcdef01234567_0" };
    const sent = await ask("openai-responses", "/v1/responses", { input: [question, own, theirs, question] });
    expect(sent?.["input"]).toEqual([question, theirs, question]);
  });
});

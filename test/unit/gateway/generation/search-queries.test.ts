import { describe, expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

/** What a provider's web search searched for, for callers of another protocol. */

const gateway = useMemoryGateway();

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

describe("the query of a web search", () => {
  test.each(Object.entries(CASES))(
    "reaches callers of the content-generation style: %s",
    async (_, [driver, text]) => {
      const type = text.startsWith("{") ? "application/json" : "text/event-stream";
      const made = await gateway({
        upstream: new ScriptedUpstream(() => ({ type, body: [text] })),
        config: { providers: [{ id: "v", driver, base_url: "http://v.test/v1", token: "sk-account" }] },
      });
      const response = await made.post("/v1beta/models/v/m:generateContent", {
        contents: [{ role: "user", parts: [{ text: "What is new?" }] }],
        tools: [{ googleSearch: {} }],
      });
      const { candidates } = JSON.parse(await response.text());
      expect(candidates[0].groundingMetadata).toMatchObject({
        webSearchQueries: ["what is new"],
        groundingChunks: [{ web: { uri: page.url } }],
      });
    },
  );
});

import { describe, expect, it } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../../support/scripted-upstream.ts";
import { wantsWhole } from "../../../../support/whole-answers.ts";

/** The vendor's own web search through backends that search by themselves, in every style that has one. */

const make = useMemoryGateway();

const URL_OF_PAGE = "https://one.example/";
const LINK = `([One](${URL_OF_PAGE}))`;
const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const TEXT = `Rome is warm ${LINK}.`;
const ANNOTATIONS = [
  {
    type: "url_citation",
    url_citation: {
      start_index: TEXT.indexOf("("),
      end_index: TEXT.indexOf("(") + LINK.length,
      title: "One",
      url: URL_OF_PAGE,
    },
  },
];
const completion = (name: "delta" | "message", piece: object, finish: string | null = null) => ({
  id: "c1",
  choices: [{ index: 0, [name]: piece, finish_reason: finish }],
});
const COMPLETION = completion("message", { content: TEXT, annotations: ANNOTATIONS }, "stop");
const COMPLETION_STREAM = [
  completion("delta", { content: "Rome is warm " }),
  completion("delta", { content: `${LINK}.` }),
  completion("delta", { annotations: ANNOTATIONS }),
  completion("delta", {}, "stop"),
].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);

const CITATION = {
  type: "web_search_result_location",
  url: URL_OF_PAGE,
  title: "One",
  encrypted_index: "x",
  cited_text: "Rome: 25 degrees",
};
const PAGES = [{ type: "web_search_result", url: URL_OF_PAGE, title: "One", encrypted_content: "x" }];
const BLOCKS = [
  { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "Rome" } },
  { type: "web_search_tool_result", tool_use_id: "srv", content: PAGES },
  { type: "text", text: "I looked. " },
  { type: "text", text: "Rome is warm", citations: [CITATION] },
  { type: "text", text: "." },
];
const MESSAGE = { type: "message", id: "m1", content: BLOCKS, stop_reason: "end_turn" };
const MESSAGE_STREAM = [
  event("message_start", { message: { id: "m1" } }),
  ...BLOCKS.flatMap(({ text, citations, ...block }, index) => [
    event("content_block_start", {
      index,
      content_block: text === undefined ? block : { ...block, text: "", citations: [] },
    }),
    ...(citations ?? []).map((citation) =>
      event("content_block_delta", { index, delta: { type: "citations_delta", citation } }),
    ),
    ...(text === undefined
      ? []
      : [event("content_block_delta", { index, delta: { type: "text_delta", text } })]),
    event("content_block_stop", { index }),
  ]),
  event("message_delta", { delta: { stop_reason: "end_turn" } }),
  event("message_stop", {}),
];

const RESPONSE = {
  id: "r1",
  status: "completed",
  output: [
    {
      type: "web_search_call",
      action: { type: "search", query: "Rome", sources: [{ type: "url", url: URL_OF_PAGE }] },
    },
    {
      type: "message",
      content: [
        {
          type: "output_text",
          text: TEXT,
          annotations: ANNOTATIONS.map(({ type, url_citation }) => ({ type, ...url_citation })),
        },
      ],
    },
  ],
};
const RESPONSE_STREAM = [
  event("response.created", { response: { id: "r1" } }),
  ...RESPONSE.output.map((item, output_index) => event("response.output_item.done", { output_index, item })),
  event("response.completed", { response: RESPONSE }),
];

const CONTENT = {
  candidates: [
    {
      content: { role: "model", parts: [{ text: "I looked. Rome is warm." }] },
      finishReason: "STOP",
      groundingMetadata: {
        groundingChunks: [{ web: { uri: URL_OF_PAGE, title: "One" } }],
        groundingSupports: [
          {
            segment: { startIndex: 10, endIndex: 22, text: "Rome is warm" },
            groundingChunkIndices: [0],
          },
        ],
      },
    },
  ],
};

const BACKENDS = {
  openai: (asked: UpstreamRequest): Reply =>
    wantsWhole(asked.body) ? { json: COMPLETION } : { body: COMPLETION_STREAM },
  anthropic: (asked: UpstreamRequest): Reply =>
    wantsWhole(asked.body) ? { json: MESSAGE } : { body: MESSAGE_STREAM },
  "openai-responses": (asked: UpstreamRequest): Reply =>
    wantsWhole(asked.body) ? { json: RESPONSE } : { body: RESPONSE_STREAM },
  gemini: (asked: UpstreamRequest): Reply =>
    wantsWhole(asked.body, asked.path)
      ? { json: CONTENT }
      : { body: [`data: ${JSON.stringify(CONTENT)}\n\n`] },
};

function createGateway(
  driver: keyof typeof BACKENDS,
  env: Record<string, string> = {},
): Promise<MemoryGateway> {
  return make({
    upstream: new ScriptedUpstream(BACKENDS[driver]),
    env: { PROVIDER_DRIVER: driver, ...env },
    config: { accounts: [{ token: "key" }] },
  });
}

const PLACE = { type: "approximate", country: "IT", city: "Rome" };
const MODEL = "provider-v4-flash-nothinking";
const messages = [{ role: "user", content: "How warm is Rome?" }];

/** A request in each style: its path, its body, and how it asks for a stream. */
const STYLES: Readonly<Record<string, (stream: boolean) => [path: string, body: object]>> = {
  "chat completions": (stream) => [
    "/v1/chat/completions",
    {
      model: MODEL,
      messages,
      stream,
      web_search_options: {
        search_context_size: "low",
        user_location: { type: "approximate", approximate: PLACE },
      },
    },
  ],
  responses: (stream) => [
    "/v1/responses",
    {
      model: MODEL,
      input: "How warm is Rome?",
      stream,
      tools: [{ type: "web_search", search_context_size: "low", user_location: PLACE }],
    },
  ],
  messages: (stream) => [
    "/v1/messages",
    {
      model: MODEL,
      messages,
      max_tokens: 99,
      stream,
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3, user_location: PLACE }],
    },
  ],
  "content generation": (stream) => [
    `/v1beta/models/${MODEL}:${stream ? "streamGenerateContent" : "generateContent"}`,
    { contents: "How warm is Rome?", tools: [{ googleSearch: {} }] },
  ],
};

/** What each style says of the page, wherever it stands in the answer. */
const TOLD: Readonly<Record<string, Readonly<Record<"openai" | "anthropic", RegExp>>>> = {
  "chat completions": {
    openai:
      /"url_citation":\{"start_index":13,"end_index":42,"title":"One","url":"https:\/\/one\.example\/"\}/,
    anthropic:
      /"url_citation":\{"start_index":22,"end_index":22,"title":"One","url":"https:\/\/one\.example\/"\}/,
  },
  responses: {
    openai:
      /"type":"url_citation","start_index":13,"end_index":42,"title":"One","url":"https:\/\/one\.example\/"/,
    anthropic:
      /"type":"url_citation","start_index":22,"end_index":22,"title":"One","url":"https:\/\/one\.example\/"/,
  },
  messages: {
    openai: /"web_search_result_location","url":"https:\/\/one\.example\/",[^}]*"cited_text":"Rome is warm"/,
    anthropic:
      /"web_search_result_location","url":"https:\/\/one\.example\/",[^}]*"cited_text":"Rome: 25 degrees"/,
  },
  "content generation": {
    openai: /"uri":"https:\/\/one\.example\/".*"startIndex":0,"endIndex":12,"text":"Rome is warm"/,
    anthropic: /"uri":"https:\/\/one\.example\/".*"startIndex":10,"endIndex":22,"text":"Rome is warm"/,
  },
};

describe.each(["openai", "anthropic"] as const)("a web search through %s", (driver) => {
  for (const [style, request] of Object.entries(STYLES)) {
    it.each([false, true])(`comes back in ${style} (stream: %s)`, async (stream) => {
      const gateway = await createGateway(driver);
      const response = await gateway.post(...request(stream));
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(TOLD[style]?.[driver] ?? /never/);
      const asked = gateway.upstream.asked.at(-1)?.json() ?? {};
      const near = style === "content generation" ? {} : { country: "IT", city: "Rome" };
      if (driver === "openai") expect(asked).toMatchObject({ model: MODEL, web_search_options: {} });
      else {
        expect(asked).toMatchObject({
          tools: [
            {
              type: "web_search_20250305",
              name: "web_search",
              ...(style === "messages" ? { max_uses: 3 } : {}),
              ...(style === "content generation" ? {} : { user_location: near }),
            },
          ],
          tool_choice: { type: "auto" },
        });
      }
      if (driver === "openai" && style === "chat completions") {
        expect(asked["web_search_options"]).toEqual({
          search_context_size: "low",
          user_location: { type: "approximate", approximate: near },
        });
      }
    });
  }

  it("uses the backend's search model if there is one", async () => {
    const env = { PROVIDER_MODELS: '{"provider-v4-flash-search-nothinking":"engine-search"}' };
    const gateway = await createGateway(driver, env);
    await (await gateway.post(...(STYLES["chat completions"]?.(false) ?? ["", {}]))).text();
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ model: "engine-search" });
  });

  it("is left out if the backend refuses it", async () => {
    const words =
      driver === "openai" ? "Web search options not supported with this model." : "web_search is not enabled";
    const upstream = new ScriptedUpstream((asked) =>
      asked.body.includes("web_search")
        ? { status: 400, json: { error: { type: "invalid_request_error", message: words } } }
        : BACKENDS[driver](asked),
    );
    const env = { PROVIDER_DRIVER: driver };
    const gateway = await make({ upstream, env, config: { accounts: [{ token: "key" }] } });
    const response = await gateway.post(...(STYLES["chat completions"]?.(false) ?? ["", {}]));
    expect(response.status).toBe(200);
    const asked = gateway.upstream.asked.at(-1)?.json() ?? {};
    expect([asked["tools"], asked["tool_choice"]]).toEqual([undefined, undefined]);
  });
});

/** What the other drivers send for it; what comes back is the same as with their likes. */
const OTHERS = {
  "openai-responses": {
    like: "openai",
    tools: [
      {
        type: "web_search",
        search_context_size: "low",
        user_location: { type: "approximate", city: "Rome" },
      },
    ],
  },
  gemini: { like: "anthropic", tools: [{ googleSearch: {} }] },
} as const;

describe.each(["openai-responses", "gemini"] as const)("a web search through %s", (driver) => {
  const { like, tools } = OTHERS[driver];

  it.each(Object.entries(STYLES))("comes back in %s", async (style, request) => {
    const gateway = await createGateway(driver);
    for (const stream of [false, true]) {
      const response = await gateway.post(...request(stream));
      expect(response.status).toBe(200);
      // Neither of them quotes the page itself.
      const told = style === "messages" ? TOLD[style]?.openai : TOLD[style]?.[like];
      expect(await response.text(), `stream: ${stream}`).toMatch(told ?? /never/);
    }
    if (style === "chat completions") expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ tools });
  });
});

import { describe, expect, test } from "vitest";
import examples from "../../../fixtures/published/examples.json" with { type: "json" };
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream } from "../../../support/scripted-upstream.ts";

/** Every member and variant that the vendors publish, in requests, answers and events, at a provider of the same protocol. */

const createGateway = useMemoryGateway();

const MODEL = "vendor/mine";

interface Style {
  readonly driver: string;
  readonly path: string;
  readonly streamPath?: string;
  /** Members that the request needs, or that the gateway would set otherwise. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Members that mean something to the gateway itself (docs/contract/native-path.md). */
  readonly own?: readonly string[];
  /** A plain answer. Default: the first published one. */
  readonly answer?: object;
  /** Members without which an answer is a failure. */
  readonly answerMembers?: object;
  readonly end: readonly object[];
  /** Events that end a stream. */
  readonly ending?: RegExp;
}

const COMPLETED = { id: "resp_1", status: "completed", output: [] };
const chatEnd = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const STYLES: Readonly<Record<keyof typeof examples, Style>> = {
  "chat-completions": {
    driver: "openai",
    path: "/v1/chat/completions",
    members: { model: MODEL, tool_choice: "auto" },
    end: [chatEnd],
  },
  completions: {
    driver: "openai",
    path: "/v1/completions",
    members: { model: MODEL },
    end: [{ id: "c", choices: [{ index: 0, text: "", finish_reason: "stop" }] }],
  },
  responses: {
    driver: "openai-responses",
    path: "/v1/responses",
    members: { model: MODEL, store: false, tool_choice: "auto" },
    own: ["previous_response_id", "background"],
    answer: COMPLETED,
    answerMembers: { status: "completed", error: null },
    end: [{ type: "response.completed", response: COMPLETED }],
    ending: /^(?:response\.(?:completed|failed|incomplete)|error)$/,
  },
  messages: {
    driver: "anthropic",
    path: "/v1/messages?beta=true",
    members: { model: MODEL, tool_choice: { type: "auto" } },
    end: [
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
    ending: /^(?:message_stop|message_start|message_delta)$/,
  },
  "content-generation": {
    driver: "gemini",
    path: `/v1beta/models/${MODEL}:generateContent`,
    streamPath: `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
    members: {},
    end: [{ candidates: [{ finishReason: "STOP" }] }],
  },
};

const styles = Object.entries(STYLES).map(([id, style]) => {
  const { request, answer, event }: { request: object[]; answer: object[]; event: object[] } =
    examples[id as keyof typeof examples];
  return { id, style, request, answer, event };
});

function behind({ driver }: Style, reply: Reply) {
  const provider = {
    id: "vendor",
    driver,
    base_url: "http://vendor.test/v1",
    token: "sk-of-the-account",
    models: { mine: "real-name" },
  };
  return createGateway({ upstream: new ScriptedUpstream(() => reply), config: { providers: [provider] } });
}

const STREAMED = { stream: true, stream_options: { include_usage: true } };

const typeOf = (event: object) => ("type" in event ? String(event.type) : "");
const toText = (event: object) => {
  const name = typeOf(event);
  return `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`;
};
/** Texts without the names of the model, which the gateway replaces. */
const unnamed = (text: string) => text.replaceAll(/"(model|modelVersion)":"[^"]*"/g, '"$1":""');

describe.each(styles)("$id: every published member", ({ style, request, answer, event }) => {
  const toSent = (example: object | undefined, more: object) =>
    Object.fromEntries(
      Object.entries({ ...example, ...style.members, ...more }).filter(
        ([name]) => style.own?.includes(name) !== true,
      ),
    );

  test("of a request reaches the provider as it was sent", async () => {
    const gateway = await behind(style, {
      type: "application/json",
      body: [JSON.stringify(style.answer ?? answer[0])],
    });
    for (const example of request) {
      const body = JSON.stringify(toSent(example, { stream: false }));
      const response = await gateway.post(style.path, null, { body });
      expect([response.status, response.headers.get("x-gateway-path")]).toEqual([200, "native"]);
      await response.text();
      expect(gateway.upstream.asked.at(-1)?.body).toBe(body.replace(JSON.stringify(MODEL), '"real-name"'));
    }
  });

  test("of a whole answer reaches the caller as it was sent", async () => {
    for (const published of answer) {
      const example = { ...published, ...style.answerMembers };
      const gateway = await behind(style, { type: "application/json", body: [JSON.stringify(example)] });
      const response = await gateway.post(style.path, null, {
        body: JSON.stringify(toSent(request[0], { stream: false })),
      });
      expect(unnamed(await response.text())).toBe(unnamed(JSON.stringify(example)));
    }
  });

  test("of an event reaches the caller as it was sent", async () => {
    const passing = event.filter((each) => style.ending?.test(typeOf(each)) !== true);
    const body = [...passing, ...style.end].map(toText).join("");
    const gateway = await behind(style, { body: [body] });
    const response = await gateway.post(style.streamPath ?? style.path, null, {
      body: JSON.stringify(toSent(request[0], style.streamPath === undefined ? STREAMED : {})),
    });
    expect(unnamed(await response.text())).toBe(unnamed(body));
    await gateway.settle();
  });
});

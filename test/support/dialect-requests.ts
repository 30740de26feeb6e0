/** A small request for a whole answer. */
export interface SmallRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const model = "provider-v4-flash";
const messages = [{ role: "user", content: "Hello" }];

/** A request in the chat-completions style. */
export const SMALL_CHAT: SmallRequest = { path: "/v1/chat/completions", body: { model, messages } };

/** One request per dialect, by the dialect's id. */
export const SMALL_REQUESTS: Readonly<Record<string, SmallRequest>> = {
  "chat-completions": SMALL_CHAT,
  responses: { path: "/v1/responses", body: { model, input: "Hello" } },
  messages: { path: "/vendorb/v1/messages", body: { model, messages, max_tokens: 100 } },
  "content-generation": {
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
  },
  completions: { path: "/v1/completions", body: { model, prompt: "Hello" } },
  "model-runner": { path: "/api/chat", body: { model, messages, stream: false } },
};

import type { Message, Part } from "../../../../src/conversation/conversation.ts";
import type { ProviderOptions } from "../../../../src/provider/driver.ts";
import { openai } from "../../../../src/provider/openai/driver.ts";
import type { PrepareOptions, Provider } from "../../../../src/provider/provider.ts";
import { conversation, eventStream, FakeUpstream, neverAborted, prepareOptions } from "../support.ts";

export const ANSWER =
  'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

export function provider(changes: Partial<ProviderOptions> = {}): Provider {
  let made = 0;
  return openai.create({
    baseUrl: "http://engine.example/v1/",
    token: "key-of-the-deployment",
    models: { "provider-v4-pro": "big-model" },
    toolCalls: "native",
    newId: () => `made${++made}`,
    sleep: async () => undefined,
    ...changes,
  });
}

export const answering = (): FakeUpstream => new FakeUpstream(() => eventStream(ANSWER));

export type Changes = Parameters<typeof conversation>[0];

/** The request that a conversation becomes. */
export async function request(
  changes: Changes,
  options: Partial<PrepareOptions> = {},
  settings: Partial<ProviderOptions> = {},
  suffix?: string,
): Promise<Record<string, unknown>> {
  const fake = answering();
  const prepared = provider(settings).prepare(conversation(changes), prepareOptions(options));
  const followUp = suffix === undefined ? null : { sessionId: "s1", parentMessageId: "m1", suffix };
  await prepared.open(fake.account, neverAborted(), followUp);
  return fake.only("/chat/completions").json();
}

export const text = (value: string): Part => ({ type: "text", text: value });
export const user = (...parts: (string | Part)[]): Message => ({
  role: "user",
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});
export const WEATHER = {
  name: "get_weather",
  description: "Looks outside.",
  parameters: { type: "object", properties: {} },
};

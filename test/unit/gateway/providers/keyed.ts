import type { Driver, ProviderOptions } from "../../../../src/gateway/providers/driver.ts";
import type { PrepareOptions, Provider } from "../../../../src/gateway/providers/provider.ts";
import { conversation, eventStream, FakeUpstream, neverAborted, prepareOptions } from "./support.ts";

/** What a test says of a conversation. */
type Changes = Parameters<typeof conversation>[0];

/** A backend that is asked with an API key, and the driver for it. */
export interface KeyedDriver {
  readonly driver: Driver;
  readonly baseUrl: string;
  /** Where below the base a generation is asked for. */
  readonly path: string;
  /** The event stream that it answers with. */
  readonly answer: string;
}

/** A provider within the process, and what reaches its backend. */
export function keyed({ driver, baseUrl, path, answer }: KeyedDriver) {
  const provider = (changes: Partial<ProviderOptions> = {}): Provider => {
    let made = 0;
    return driver.create({
      baseUrl,
      token: "key-of-the-deployment",
      models: { "provider-v4-pro": "big-model" },
      toolCalls: "native",
      wholeAnswers: true,
      newId: () => `made${++made}`,
      sleep: async () => undefined,
      ...changes,
    });
  };
  const answering = (): FakeUpstream => new FakeUpstream(() => eventStream(answer));
  /** The request that a conversation becomes. */
  const request = async (
    changes: Changes,
    options: Partial<PrepareOptions> = {},
    settings: Partial<ProviderOptions> = {},
    suffix?: string,
  ): Promise<Record<string, unknown>> => {
    const fake = answering();
    const prepared = provider(settings).prepare(conversation(changes), prepareOptions(options));
    const followUp = suffix === undefined ? null : { sessionId: "s1", parentMessageId: "m1", suffix };
    await prepared.open(fake.account, neverAborted(), followUp);
    return fake.only(path).json();
  };
  return { provider, answering, request, answer };
}

import { describe, expect, it } from "vitest";
import type { Provider } from "../../../../src/gateway/providers/provider.ts";
import type { ConversationChanges } from "../../../support/conversations.ts";
import { anthropicDriverRow } from "./anthropic/driver-row.ts";
import { answeredCalls, refusingModel } from "./driver-row.ts";
import { geminiDriverRow } from "./gemini/driver-row.ts";
import { openaiDriverRow } from "./openai/driver-row.ts";
import { openaiResponsesDriverRow } from "./openai-responses/driver-row.ts";
import {
  ask,
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  SECRET,
  WEATHER,
} from "./support.ts";

/**
 * What every driver of a backend with an API key does when the backend refuses, fails, or wants reasoning back. What
 * only one protocol has is tested in `<driver>/driver.test.ts`.
 */
const ROWS = [openaiDriverRow, openaiResponsesDriverRow, anthropicDriverRow, geminiDriverRow];

const OTHER_MODEL = "provider-v4-pro";

describe.each(ROWS)("the $name driver", (row) => {
  const { provider, answer } = row.keyed;
  describe("asks a model that refuses", () => {
    it.each(row.refusals)(
      "without the refused field from then on, and other models as before: $what",
      async (refusal) => {
        const { changes, judge, instead } = refusal;
        const fake = refusingModel(row, judge);
        const driver = provider();
        expect(await ask(driver, fake, changes)).toMatchObject(instead);
        const tries = fake.seen.length;
        expect(tries).toBeGreaterThan(1);
        expect(await ask(driver, fake, changes)).toMatchObject(instead);
        expect(fake.seen).toHaveLength(tries + 1);
        await ask(driver, fake, { ...changes, model: OTHER_MODEL });
        expect(fake.seen).toHaveLength(2 * tries + 1);
      },
    );

    it.each(row.refusals)(
      "with the field if the request was refused without it, too: $what",
      async ({ changes, judge }) => {
        let why: string | undefined;
        let isHopeless = true;
        const fake = refusingModel(row, (body) => {
          why ??= judge(body);
          return isHopeless ? why : undefined;
        });
        const driver = provider();
        await expect(ask(driver, fake, changes)).rejects.toMatchObject({ kind: "invalid_request" });
        isHopeless = false;
        expect(await ask(driver, fake, changes)).toEqual(fake.seen[0]?.json());
      },
    );
  });

  describe("believes a model that refuses a request", () => {
    it.each([...row.believed, [{}, "context too long"] as const])("%j: %s", async (changes, message) => {
      const fake = refusingModel(row, () => message);
      await expect(ask(provider(), fake, changes)).rejects.toMatchObject({
        kind: "invalid_request",
        message: `the provider says: ${message}`,
      });
      expect(fake.seen).toHaveLength(1);
    });
  });

  it.each(row.failures)(
    "takes %i %j for %s, and keeps the key from the message",
    async (status, body, kind) => {
      const fake = new FakeUpstream(() => Response.json(body, { status }));
      const opened = provider()
        .prepare(conversation(), prepareOptions())
        .open(fake.account, neverAborted(), null);
      const failure = await opened.catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "ProviderError", kind, status });
      expect(String(failure)).not.toContain(SECRET);
    },
  );

  if (row.thoughts !== null) {
    const { calls, sentIn, seal, refuseForeign, ...thoughts } = row.thoughts;
    const asked: ConversationChanges = { thinking: true, tools: [WEATHER] };
    const answered = { ...asked, messages: answeredCalls(calls) };
    const streamed = () => new FakeUpstream(() => eventStream(thoughts.stream));
    const whole = () =>
      new FakeUpstream(
        () => new Response(thoughts.whole, { headers: { "content-type": "application/json" } }),
      );
    const sent = async (driver: Provider, fake: FakeUpstream, changes: ConversationChanges) =>
      sentIn(await ask(driver, fake, changes));

    describe("sends thoughts back with the results of their calls", () => {
      it("as they were streamed", async () => {
        const driver = provider();
        await ask(driver, streamed(), asked);
        expect(await sent(driver, streamed(), answered)).toEqual(thoughts.known);
      });

      if (thoughts.whole !== null) {
        it("as in a whole answer", async () => {
          const driver = provider();
          await ask(driver, whole(), { ...asked, stream: false });
          expect(await sent(driver, whole(), { ...answered, stream: false })).toEqual(thoughts.known);
        });
      }

      it("but not to another model, and not if they are unknown", async () => {
        const driver = provider();
        await ask(driver, streamed(), asked);
        expect(await sent(driver, streamed(), { ...answered, model: OTHER_MODEL })).toEqual(thoughts.unknown);
        expect(await sent(provider(), streamed(), answered)).toEqual(thoughts.unknown);
      });

      it("as the protocol wants it in a request that does not think", async () => {
        const driver = provider();
        await ask(driver, streamed(), asked);
        expect(await sent(driver, streamed(), { ...answered, thinking: false })).toEqual(thoughts.quiet);
      });

      it("but not to an account other than the one that sealed them", async () => {
        const driver = provider();
        await ask(driver, streamed(), asked);
        const foreign = new FakeUpstream(({ body }) =>
          body.includes(seal) ? refuseForeign() : eventStream(answer),
        );
        expect(await sent(driver, foreign, answered)).toEqual(thoughts.foreign);
        expect(foreign.seen).toHaveLength(2);
        // An account to which they belong gets them.
        expect(await sent(driver, streamed(), answered)).toEqual(thoughts.known);
      });
    });
  }
});

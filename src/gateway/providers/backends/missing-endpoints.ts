import { MINUTE_MS } from "../../../core/units.ts";
import type { PreparedTurn } from "../answers/upstream-turn.ts";
import { mayRepeatCall } from "../upstream-account.ts";

/** Most remembered endpoints of one provider. Model names come from callers, so their number is not bounded otherwise. */
const MAX_REMEMBERED = 1_000;

/** How long an endpoint counts as missing: a proxy's passing 404 must not last. */
const REMEMBERED_MS = 10 * MINUTE_MS;

/** The optional endpoints that a backend turned out to lack, for one of its models or for all. */
export class MissingEndpoints {
  /** Until when an endpoint counts as missing, Unix milliseconds, by style and model. */
  readonly #missing = new Map<string, number>();

  /** Whether a request of an API style for a model is known to fail. */
  has(dialect: string, model: string): boolean {
    return (this.#missing.get(`${dialect} ${model}`) ?? 0) > Date.now();
  }

  /** The turn of an optional endpoint. If the backend lacks the endpoint, the translated turn replaces it. */
  withFallback(
    turn: PreparedTurn,
    dialect: string,
    model: string,
    translate: () => PreparedTurn,
  ): PreparedTurn {
    return {
      ...turn,
      open: async (account, signal, followUp, inSession) => {
        try {
          return await turn.open(account, signal, followUp, inSession);
        } catch (error) {
          const { isEndpointMissing } = await import("../passthrough/passthrough-error.ts");
          if (!isEndpointMissing(error)) throw error;
          if (this.#missing.size >= MAX_REMEMBERED) this.#missing.clear();
          this.#missing.set(`${dialect} ${model}`, Date.now() + REMEMBERED_MS);
          if (!mayRepeatCall(account, "endpoint", error)) throw error;
          const translated = translate();
          await translated.load?.(signal);
          return translated.open(account, signal, null, inSession);
        }
      },
    };
  }
}

import type { SelectionStrategy } from "../../src/core/config/selection-strategy.ts";
import { configuration, leaseOf, request, result } from "../../test/support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../test/support/pool-simulator/pool-simulator.ts";

/** Prices per token in units of the input price, as vendors with prompt caches have them. */
const PRICE = { input: 1, read: 0.1, write5m: 1.25, write1h: 2, output: 5 };
const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;
/** System prompt and tools of a coding agent, which all its conversations share and caches for an hour. */
const SHARED_TOKENS = 18_000;
const OUTPUT_TOKENS = 400;
const CONVERSATIONS = 400;
const AT_ONCE = 12;

/** What the accounts of one run cost. */
export interface CacheCost {
  readonly cost: number;
  /** Share of the prompts' tokens that were read from a cache. */
  readonly hitRate: number;
}

/** Numbers from 0 to 1 that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The turns of a conversation: what each adds to the prompt, and the pause before it. */
function createTurns(random: () => number): readonly { readonly tokens: number; readonly pauseMs: number }[] {
  return Array.from({ length: 6 + Math.floor(random() * 40) }, () => ({
    tokens: 200 + Math.floor(random() ** 3 * 12_000),
    // Mostly tool results after seconds, sometimes a person who reads, seldom one who was away.
    pauseMs:
      random() < 0.85 ? 1_000 + random() * 9_000 : random() < 0.8 ? random() * 240_000 : random() * 1_500_000,
  }));
}

/** The prompt cache of one account at a provider. */
class PromptCache {
  #sharedUntil = 0;
  readonly #conversations = new Map<number, { tokens: number; until: number }>();

  /** Returns how many tokens are read, and how many written for five minutes and for an hour. */
  use(conversation: number, tokens: number, now: number): { read: number; write5m: number; write1h: number } {
    const hasShared = this.#sharedUntil > now;
    this.#sharedUntil = now + HOUR_MS;
    const known = this.#conversations.get(conversation);
    const cached = hasShared && known !== undefined && known.until > now ? known.tokens : 0;
    this.#conversations.set(conversation, { tokens, until: now + FIVE_MINUTES_MS });
    return {
      read: cached + (hasShared ? SHARED_TOKENS : 0),
      write5m: tokens - cached,
      write1h: hasShared ? 0 : SHARED_TOKENS,
    };
  }
}

/** Runs coding conversations over accounts with caches of their own, and returns what the provider charges. */
export function simulateCaches(strategy: SelectionStrategy, accounts: number, perAccount: number): CacheCost {
  const random = createRandom(20_261_126);
  const ids = Array.from({ length: accounts }, (_, index) => `account-${index}`);
  const caches = new Map(ids.map((id) => [id, new PromptCache()]));
  const simulator = new PoolSimulator();
  simulator.pool.configure(configuration(ids, { perAccount, queue: 1_000 }));
  simulator.answerOnce(ids);
  const plans = Array.from({ length: CONVERSATIONS }, () => createTurns(random));
  let cost = 0;
  let prompt = 0;
  let read = 0;
  let started = 0;
  const startNext = () => {
    if (started < CONVERSATIONS) runTurn(started++, 0, 0);
  };
  const runTurn = (index: number, turn: number, before: number) => {
    const { tokens = 0 } = plans[index]?.[turn] ?? {};
    const selection = {
      strategy,
      conversation: `conversation ${index}`,
      ...(turn === 0 ? {} : { waitMs: 500 }),
    };
    const outcome = simulator.pool.acquire(request({ selection, requestId: `${index}.${turn}` }));
    const onGranted = (id: string, lease: string) => {
      const length = before + tokens;
      const used = caches.get(id)?.use(index, length, simulator.now) ?? { read: 0, write5m: 0, write1h: 0 };
      cost += used.read * PRICE.read + used.write5m * PRICE.write5m + used.write1h * PRICE.write1h;
      cost += OUTPUT_TOKENS * PRICE.output;
      read += used.read;
      prompt += SHARED_TOKENS + length;
      simulator.clock.setTimer(2_000 + ((index * 7 + turn * 3) % 7) * 1_000, () => {
        simulator.pool.succeeded(lease);
        simulator.pool.release(lease);
        const next = plans[index]?.[turn + 1];
        if (next === undefined) startNext();
        else simulator.clock.setTimer(next.pauseMs, () => runTurn(index, turn + 1, length + OUTPUT_TOKENS));
      });
    };
    if ("granted" in outcome) onGranted(outcome.granted.account.id, outcome.granted.lease);
    else if ("settled" in outcome)
      simulator.whenSettled(outcome, () => onGranted(result(outcome) ?? "", leaseOf(outcome)));
    else throw new Error(outcome.refused);
  };
  for (let client = 0; client < AT_ONCE; client += 1) startNext();
  simulator.advance(48 * HOUR_MS);
  return { cost, hitRate: read / prompt };
}

/** Prints what each strategy costs beside one account without a limit. */
export function printCaches(): void {
  const alone = simulateCaches("affinity", 1, 1_000);
  console.log(
    "| accounts | strategy | read from caches | cost beside one account |\n| --- | --- | --- | --- |",
  );
  const row = (name: string, accounts: number, { cost, hitRate }: CacheCost) =>
    console.log(
      `| ${accounts} | ${name} | ${(hitRate * 100).toFixed(1)} % | ${(cost / alone.cost).toFixed(3)} |`,
    );
  row("no limit", 1, alone);
  for (const strategy of ["affinity", "round_robin", "least_busy"] as const)
    row(strategy, 8, simulateCaches(strategy, 8, 2));
  console.log();
}

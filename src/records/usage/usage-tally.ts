import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { USAGE_DETAILS, type UsageDetails } from "../../core/conversation/usage-details.ts";
import {
  DETAIL_SUMS,
  NO_USAGE_DETAILS,
  OTHER_VALUES,
  type RequestUsage,
  type UsageDelta,
  type UsageDimensions,
  type UsageMessage,
  type UsageStore,
} from "../../core/ports/usage.ts";
import { HOUR_MS } from "../../core/units.ts";
import type { Writable } from "../../core/writable.ts";
import { ActivityTally } from "./activity-tally.ts";
import { addDuration } from "./histogram.ts";
import { readStoredUsage } from "./priced-usage.ts";
import { computeCostNano, findModelPrice } from "./prices.ts";

/**
 * Limits of separate rows between two messages. Beyond the first, requested models and tags become `other`. Beyond the
 * second, all dimensions do but key, team, user and outcome.
 */
const MAX_ROWS = 1_000;
const MAX_ALL_ROWS = 2_000;
/** Limit of characters of a name that a caller chose. */
const MAX_NAME = 200;

/** A row in progress; its cost is computed when it is sent. */
interface OpenRow extends Omit<Writable<UsageDelta>, "first_token" | "duration" | "queue"> {
  readonly first_token: Record<string, number>;
  readonly duration: Record<string, number>;
  readonly queue: Record<string, number>;
}

/** Normalizes a count for storage: providers may report anything, and an older version has noted fewer counts. */
function normalizeCount(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) && count > 0 ? Math.round(count) : 0;
}

type UsageCounts = UsageDetails & Pick<RequestUsage, "promptTokens" | "completionTokens" | "reasoningTokens">;

/** Normalizes the counts of a request. The parts of the prompt and of the completion are at most the whole. */
function normalizeUsage(used: UsageCounts): UsageCounts {
  const promptTokens = normalizeCount(used.promptTokens);
  const completionTokens = normalizeCount(used.completionTokens);
  let rest = promptTokens;
  const takeFromPrompt = (count: number): number => {
    const taken = Math.min(rest, normalizeCount(count));
    rest -= taken;
    return taken;
  };
  return {
    promptTokens,
    completionTokens,
    reasoningTokens: Math.min(completionTokens, normalizeCount(used.reasoningTokens)),
    cachedTokens: takeFromPrompt(used.cachedTokens),
    cacheWrite5mTokens: takeFromPrompt(used.cacheWrite5mTokens),
    cacheWrite1hTokens: takeFromPrompt(used.cacheWrite1hTokens),
    audioInputTokens: Math.min(promptTokens, normalizeCount(used.audioInputTokens)),
    audioOutputTokens: Math.min(completionTokens, normalizeCount(used.audioOutputTokens)),
    imageInputTokens: Math.min(promptTokens, normalizeCount(used.imageInputTokens)),
    imageOutputTokens: Math.min(completionTokens, normalizeCount(used.imageOutputTokens)),
    webSearches: normalizeCount(used.webSearches),
    webFetches: normalizeCount(used.webFetches),
    audioSeconds: normalizeCount(used.audioSeconds),
    searchUnits: normalizeCount(used.searchUnits),
  };
}

function openRow(hour: number, dimensions: UsageDimensions): OpenRow {
  return {
    hour,
    last: 0,
    dimensions,
    requests: 0,
    cache_hits: 0,
    provider_errors: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    reasoning_tokens: 0,
    ...NO_USAGE_DETAILS,
    cost_nano: 0,
    attempts: 0,
    first_token_ms: 0,
    duration_ms: 0,
    queue_ms: 0,
    first_token: {},
    duration: {},
    queue: {},
  };
}

function truncateName(name: string): string {
  return name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name;
}

/**
 * Usage that an isolate has counted and not yet delivered to the {@link UsageStore}. Only one message is in transit, and it
 * is repeated until acknowledged. The store recognises repeats by the sequence number, so that nothing counts twice. Usage
 * that is counted in the meantime goes with the next message.
 */
export class UsageTally {
  #sender = "";
  #sequence = 0;
  #rows = new Map<string, OpenRow>();
  readonly #activity = new ActivityTally();
  /** The message that is not acknowledged yet. */
  #unacknowledged: UsageMessage | null = null;
  /** Number of the last counted note; 0: none. */
  #lastNote = 0;

  /** Whether everything is acknowledged. */
  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.#unacknowledged === null;
  }

  /**
   * Counts a request that ended at `now` (Unix milliseconds); cheap. `note` is the number of its note, if the store has one
   * (see `OutcomeStore`).
   */
  count(used: RequestUsage, now: number, note?: number): void {
    if (note !== undefined) this.#lastNote = note;
    const row = this.#row(used, Math.floor(now / HOUR_MS) * HOUR_MS);
    const tokens = normalizeUsage(used);
    row.last = Math.max(row.last, now);
    row.requests += 1;
    if (used.isCacheHit === true) row.cache_hits += 1;
    if (used.isProviderError === true) row.provider_errors += 1;
    row.prompt_tokens += tokens.promptTokens;
    row.completion_tokens += tokens.completionTokens;
    row.reasoning_tokens += tokens.reasoningTokens;
    for (const name of USAGE_DETAILS) row[DETAIL_SUMS[name]] += tokens[name];
    const { failedAttempts = [] } = used;
    // A failed attempt counts for the provider that failed, also if another one has answered.
    for (const failed of failedAttempts) {
      const rowOfFailed = this.#row({ ...used, ...failed, outcome: "error" }, row.hour);
      rowOfFailed.last = Math.max(rowOfFailed.last, now);
      rowOfFailed.provider_errors += 1;
      rowOfFailed.attempts += 1;
    }
    row.attempts += Math.max(0, used.attempts - failedAttempts.length);
    row.duration_ms += addDuration(row.duration, used.durationMs);
    if (used.firstTokenMs !== undefined)
      row.first_token_ms += addDuration(row.first_token, used.firstTokenMs);
    if (used.queueMs !== undefined) row.queue_ms += addDuration(row.queue, used.queueMs);
    this.#activity.count({ ...used, ...tokens }, now);
  }

  #row(used: RequestUsage, hour: number): OpenRow {
    const { key, provider, account, dialect, operation, outcome } = used;
    // Notes of an earlier version do not have them.
    const { team = "", user = "", tag = "" }: Partial<RequestUsage> = used;
    const group = team === "" && user === "" && tag === "" ? "" : `\0${team}\0${user}\0${tag}`;
    const requested = truncateName(used.requested_model);
    const model = truncateName(used.model);
    const id = `${hour}\0${key}\0${requested}\0${model}\0${provider}\0${account}\0${dialect}\0${operation}\0${outcome}${group}`;
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const dimensions = {
      key,
      requested_model: requested,
      model,
      provider,
      account,
      dialect,
      operation,
      outcome,
      team,
      user,
      tag,
    };
    if (this.#rows.size < MAX_ROWS) return this.#newRow(id, hour, dimensions);
    const reduced = { ...dimensions, requested_model: OTHER_VALUES, tag: tag === "" ? "" : OTHER_VALUES };
    const reducedId = `${hour}\0${key}\0\0${model}\0${provider}\0${account}\0${dialect}\0${operation}\0${outcome}\0${team}\0${user}\0${reduced.tag}`;
    const reducedRow = this.#rows.get(reducedId);
    if (reducedRow !== undefined) return reducedRow;
    if (this.#rows.size < MAX_ALL_ROWS) return this.#newRow(reducedId, hour, reduced);
    const minimalId = `${hour}\0${key}\0\0${outcome}\0${team}\0${user}\0${reduced.tag}`;
    const minimal = {
      ...reduced,
      model: OTHER_VALUES,
      provider: OTHER_VALUES,
      account: OTHER_VALUES,
      dialect: OTHER_VALUES,
      operation: OTHER_VALUES,
    };
    return this.#rows.get(minimalId) ?? this.#newRow(minimalId, hour, minimal);
  }

  #newRow(id: string, hour: number, dimensions: UsageDimensions): OpenRow {
    const row = openRow(hour, dimensions);
    this.#rows.set(id, row);
    return row;
  }

  /**
   * Repeats the unacknowledged message, if any, and then sends the current counts. `config` has the prices; `now` is Unix
   * milliseconds.
   *
   * @throws the store's error; the next call sends the message again.
   */
  async send(store: Pick<UsageStore, "write">, { config }: Pick<ConfigSnapshot, "config">, now: number) {
    if (this.#unacknowledged !== null) await this.#deliver(store, this.#unacknowledged);
    if (this.#rows.size === 0 || this.#unacknowledged !== null) return;
    // Not at the start of the isolate: only requests may use random numbers.
    this.#sender ||= crypto.randomUUID();
    this.#sequence += 1;
    const deltas = Array.from(this.#rows.values(), (row) => {
      const { model, requested_model: requested } = row.dimensions;
      row.cost_nano = computeCostNano(findModelPrice(config, model, requested), readStoredUsage(row));
      return row;
    });
    this.#rows = new Map();
    const activity = this.#activity.take(config);
    const note = this.#lastNote === 0 ? {} : { noted: this.#lastNote };
    this.#unacknowledged = {
      sender: this.#sender,
      sequence: this.#sequence,
      made: now,
      deltas,
      activity,
      ...note,
    };
    await this.#deliver(store, this.#unacknowledged);
  }

  async #deliver(store: Pick<UsageStore, "write">, message: UsageMessage): Promise<void> {
    await store.write(message);
    // A concurrent request may have delivered this message already and sent the next.
    if (this.#unacknowledged === message) this.#unacknowledged = null;
  }
}

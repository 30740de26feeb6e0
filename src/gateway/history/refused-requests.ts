import { oncePer } from "../../core/encoding/once.ts";
import { copyText, truncateText } from "../../core/encoding/text-slices.ts";
import { type HistorySummary, type HistoryWrite, REFUSAL_ID_PREFIX } from "../../core/ports/archive.ts";
import { sleep } from "../../core/ports/clock.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RequestOutcome } from "../../core/ports/request-outcome.ts";
import { NO_USAGE_DETAILS } from "../../core/ports/usage.ts";
import { getOutbox, type Outbox, type OutboxPlatform } from "../../records/telemetry/outbox.ts";
import type { RecordSource } from "../../records/telemetry/waiting-records.ts";
import { limitErrorForHistory } from "./stored-errors.ts";
import { MAX_LABEL, redactName } from "./stored-text.ts";

/** For how long equal refusals share a record, milliseconds. */
const GROUP_MS = 60_000;
/** How many records a key can cause in that time with names of models. Beyond, requests are grouped by error alone. */
const MAX_MODELS_PER_KEY = 5;
/** How many records a key, and an isolate, can cause in that time. Further kinds of refusals are not recorded. */
const MAX_GROUPS_PER_KEY = 10;
const MAX_GROUPS = 100;
/** Beyond that many, each further record is the first one of its key: so a few keys leave room for the others. */
const MAX_SHARED_GROUPS = 50;
/** The first refusals of a group update its record at once, further ones together at this interval, milliseconds. */
const PROMPT_UPDATES = 5;
const UPDATE_MS = 5_000;

/** A refused request, as the history shows it. */
type RefusedRequest = Pick<
  HistorySummary,
  | "created_at"
  | "request_id"
  | "key"
  | "team"
  | "user"
  | "tags"
  | "dialect"
  | "requested_model"
  | "source"
  | "status_code"
  | "error"
  | "error_code"
>;

/** Copies the beginning of a text: a record stays for a minute, and must not keep its request in memory for so long. */
const createLabel = (text: string): string => copyText(truncateText(text, MAX_LABEL));

const NO_TEXTS = { messages: "[]", prompt: "", options: "" };

/** Equal refusals of a minute: one record, which says how many they are. */
class RefusalGroup implements RecordSource {
  readonly isRefusal = true;
  readonly characters = 0;
  /** Its record is complete at any time, and may be written again. */
  readonly hasEnded = false;
  readonly isKnownToArchive = false;
  readonly #id = `${REFUSAL_ID_PREFIX}${crypto.randomUUID().replaceAll("-", "")}`;
  readonly #first: RefusedRequest;
  /** When the first refusal came, Unix milliseconds. Its request may have come long before. */
  readonly openedAt: number;
  #count = 0;
  #updatedAt = 0;
  #elapsedMs = 0;
  /** When its record was, or will be, written last, Unix milliseconds. */
  #updateAt = 0;

  constructor(first: RefusedRequest, openedAt: number) {
    this.#first = first;
    this.openedAt = openedAt;
  }

  get createdAt(): number {
    return this.#first.created_at;
  }

  get key(): string {
    return this.#first.key;
  }

  /** Counts a refusal. Returns after how many milliseconds its record must be written; null: an earlier one will write it. */
  add(now: number, elapsedMs: number): number | null {
    this.#count += 1;
    this.#updatedAt = now;
    this.#elapsedMs = elapsedMs;
    const untilUpdate = this.#updateAt - now;
    if (untilUpdate > 0 && untilUpdate <= UPDATE_MS) return null;
    const isPrompt = this.#count <= PROMPT_UPDATES;
    const waitMs = isPrompt ? 0 : Math.min(Math.max(untilUpdate + UPDATE_MS, 0), UPDATE_MS);
    this.#updateAt = now + waitMs;
    return waitMs;
  }

  shorten(): void {
    // It holds no texts.
  }

  markUndelivered(): void {
    // Each write has the whole record.
  }

  write(): HistoryWrite {
    const summary: HistorySummary = {
      id: this.#id,
      ...this.#first,
      updated_at: this.#updatedAt,
      completed_at: this.#updatedAt,
      refusals: this.#count,
      status: "error",
      elapsed_ms: this.#elapsedMs,
      model: "",
      provider: "",
      account: "",
      leased_at: 0,
      first_token_ms: 0,
      attempts: 0,
      tried: [],
      sign_ins: [],
      stream: false,
      thinking: false,
      finish_reason: "",
      prompt_tokens: 0,
      completion_tokens: 0,
      reasoning_tokens: 0,
      ...NO_USAGE_DETAILS,
      request_preview: "",
      response_preview: "",
    };
    return { summary, request: NO_TEXTS, reasoning: "", content: "" };
  }
}

/** The refused requests of an isolate. A flood of them becomes few records. */
export class RefusedRequests {
  readonly #outbox: Pick<Outbox, "record">;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  readonly #groups = new Map<string, RefusalGroup>();

  constructor(outbox: Pick<Outbox, "record">, sleepFor: (milliseconds: number) => Promise<void>) {
    this.#outbox = outbox;
    this.#sleep = sleepFor;
  }

  /**
   * Resolves when the record waits to be sent, at once for most refusals. The request must live until then.
   *
   * @param now Unix milliseconds
   */
  async record(request: RefusedRequest, now: number, elapsedMs: number): Promise<void> {
    const group = this.#findGroup(request, now);
    const waitMs = group?.add(now, elapsedMs) ?? null;
    if (group === null || waitMs === null) return;
    if (waitMs > 0) await this.#sleep(waitMs);
    this.#outbox.record(group);
  }

  #findGroup(request: RefusedRequest, now: number): RefusalGroup | null {
    for (const [id, { openedAt }] of this.#groups)
      if (Math.abs(now - openedAt) >= GROUP_MS) this.#groups.delete(id);
    const { key, dialect, status_code, error_code = "", requested_model } = request;
    const kind = [key, dialect, status_code, error_code].join("\n");
    const ofModel = `${kind}\n${requested_model}`;
    const known = this.#groups.get(ofModel);
    if (known !== undefined) return known;
    const groupsOfKey = [...this.#groups.values()].filter((group) => group.key === key).length;
    const isMixed = groupsOfKey >= MAX_MODELS_PER_KEY;
    const id = isMixed ? kind : ofModel;
    const group = this.#groups.get(id);
    if (group !== undefined) return group;
    if (groupsOfKey >= MAX_GROUPS_PER_KEY) return null;
    if (this.#groups.size >= (groupsOfKey === 0 ? MAX_GROUPS : MAX_SHARED_GROUPS)) return null;
    const created = new RefusalGroup(isMixed ? { ...request, requested_model: "" } : request, now);
    this.#groups.set(id, created);
    return created;
  }
}

/** The refused requests of this isolate or process. */
const getRefusedRequests = oncePer(
  (platform: OutboxPlatform) => new RefusedRequests(getOutbox(platform), sleep),
);

/**
 * Records a refused request in the history, as far as the key's history mode allows.
 *
 * @returns what is still being sent
 */
export async function recordRefusedRequest(
  { platform, request, refusedRequest, requestId, startedAt, facts }: Context,
  { status, durationMs }: RequestOutcome,
): Promise<void> {
  const { key = "", team, user, tags, history: mode, error } = facts;
  const { message = "" } = refusedRequest;
  // A message may quote the request, and the caller may have written anything instead of a name.
  const toName = (text: string) => redactName(text, mode);
  await getRefusedRequests(platform).record(
    {
      created_at: startedAt,
      request_id: requestId,
      key,
      ...(team === undefined ? {} : { team }),
      ...(user === undefined ? {} : { user }),
      ...(tags === undefined ? {} : { tags: tags.split(",").map(toName) }),
      dialect: facts.dialect ?? refusedRequest.style ?? "",
      requested_model: createLabel(toName(refusedRequest.model ?? facts.requestedModel ?? "")),
      source: createLabel(toName(request.headers.get("x-gateway-source")?.trim() ?? "")),
      status_code: facts.errorStatus ?? status,
      error: createLabel(limitErrorForHistory(message, error ?? "", mode)),
      ...(error === undefined ? {} : { error_code: error }),
    },
    platform.now(),
    durationMs,
  );
  const sent = getOutbox(platform).waitUntilSent();
  if (sent !== null) await sent;
}

import type { HistoryRecord } from "../../api/history.ts";
import type { AccountNames } from "../../shared/account-names.ts";
import { formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { describeAccount, nameAccount } from "./describe-account.ts";
import { texts } from "./texts.ts";
import { extractToolCallMarkup } from "./tool-call-markup.ts";

/** One step of a generation. */
export interface Step {
  /** Milliseconds since the request arrived; null: unknown. */
  readonly at: number | null;
  readonly text: string;
  readonly tone: "good" | "bad" | "neutral";
  /** An account that the text names. */
  readonly account?: string;
}

type TimelineRecord = Pick<
  HistoryRecord,
  | "account"
  | "attempts"
  | "content"
  | "created_at"
  | "elapsed_ms"
  | "error"
  | "first_token_ms"
  | "leased_at"
  | "reasoning"
  | "sign_ins"
  | "status"
  | "status_code"
  | "tried"
  | "upstream_attempts"
>;

/** Causes of retries, as texts for the user. */
const CAUSES: Readonly<Record<string, string>> = {
  model: texts.nextModelRoute,
  busy_model: texts.waitingForBusyModel,
  account: texts.anotherAccount,
  unusable_account: texts.anotherUsableAccount,
  answer: texts.sameAccountAfterEmptyAnswer,
  answer_account: texts.anotherAccountAfterEmptyAnswer,
  token: texts.newToken,
  model_name: texts.providersModelName,
  endpoint: texts.atAnotherEndpoint,
  refused_field: texts.withoutRefusedField,
  file: texts.afterFileWasProcessed,
  format: texts.correctedFormat,
};

type ShownAttempt = NonNullable<TimelineRecord["upstream_attempts"]>[number];

/** `message`: what is known of the failure; empty: nothing. `runs`: the generation has not ended. */
function describeAttempt(
  attempt: ShownAttempt,
  index: number,
  message: string,
  runs: boolean,
  names: AccountNames,
): string {
  const { cause, provider, account, model, ms, status, reason } = attempt;
  const why = cause === "" ? "" : ` (${CAUSES[cause] ?? cause})`;
  const what = provider === "" ? model : texts.of(model, provider);
  const where = account === "" ? what : texts.with(what, nameAccount(account, names));
  const code = status === 0 ? "" : ` ${status}`;
  const failure = texts.failed(reason, message === "" ? code : `${code}, ${message}`);
  const outcome = reason === "" ? texts.answered : failure;
  // The stored attempt of an answer that streams may have no duration.
  const withoutDuration = runs ? texts.runs : outcome;
  const result = ms === null ? withoutDuration : `${outcome.replace(/\.$/, "")}, ${formatDuration(ms)}`;
  return texts.attempt(index + 1, why, where, result);
}

/**
 * Builds the steps of a generation, from the request to its end. Records of older versions have no times of failed
 * attempts.
 */
export function buildTimeline(record: TimelineRecord, names: AccountNames = new Map()): Step[] {
  const {
    created_at,
    leased_at,
    tried,
    sign_ins,
    upstream_attempts = [],
    first_token_ms,
    status,
    elapsed_ms,
  } = record;
  const toOffset = (at: number) => (at === 0 ? null : Math.max(0, at - created_at));
  const steps: Step[] = [{ at: 0, text: texts.requestReceived, tone: "neutral" }];
  const failures = [...tried];
  /** Takes the message of an attempt's failure. What remains are accounts that failed before an attempt. */
  const takeMessage = ({ account, reason }: ShownAttempt): string => {
    const index = failures.findIndex((failure) => failure.account === account && failure.reason === reason);
    return index === -1 ? "" : (failures.splice(index, 1)[0]?.message ?? "");
  };
  const shownAttempts = upstream_attempts.map((attempt, index) => ({
    at: attempt.at,
    text: describeAttempt(
      attempt,
      index,
      attempt.reason === "" ? "" : takeMessage(attempt),
      status === "streaming",
      names,
    ),
    tone: attempt.reason === "" ? ("neutral" as const) : ("bad" as const),
    account: attempt.account,
  }));
  const attempts = [
    ...failures.map(({ account, reason, message, at }) => ({
      at,
      text: texts.failedAccount(nameAccount(account, names), message, reason),
      tone: "bad" as const,
      account,
    })),
    ...shownAttempts,
    ...sign_ins.map(({ account, at, ms }) => ({
      at,
      text: texts.signIn(nameAccount(account, names), formatDuration(ms)),
      tone: "neutral" as const,
      account,
    })),
  ];
  // Attempts without a time come first, in their stored order.
  attempts.sort((a, b) => a.at - b.at);
  for (const { at, ...step } of attempts) steps.push({ at: toOffset(at), ...step });
  if (leased_at > 0 && record.attempts > tried.length && upstream_attempts.length === 0) {
    steps.push({
      at: toOffset(leased_at),
      text: texts.sentWith(describeAccount(record, names)),
      tone: "neutral",
    });
  }
  if (first_token_ms > 0) steps.push({ at: first_token_ms, text: words.firstToken, tone: "neutral" });
  if (extractToolCallMarkup(record.content) !== "" || extractToolCallMarkup(record.reasoning) !== "") {
    steps.push({ at: null, text: texts.toolCalls, tone: "neutral" });
  }
  if (status === "streaming") return [...steps, { at: null, text: texts.inProgress, tone: "neutral" }];
  const outcomes = {
    success: { text: texts.completed, tone: "good" },
    cancelled: { text: texts.clientDisconnected, tone: "neutral" },
  } as const;
  const outcome = status === "success" || status === "cancelled" ? outcomes[status] : null;
  const failure = { text: texts.failedWith(record.status_code, record.error), tone: "bad" } as const;
  return [...steps, { at: elapsed_ms, ...(outcome ?? failure) }];
}

import type { HistoryRecord } from "../../api/history.ts";
import { formatDuration } from "../../ui/format.ts";
import { describeAccount } from "./describe-account.ts";
import { extractToolCallMarkup } from "./tool-call-markup.ts";

/** One step of a generation. */
export interface Step {
  /** Milliseconds since the request arrived; null: unknown. */
  readonly at: number | null;
  readonly said: string;
  readonly tone: "good" | "bad" | "neutral";
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
  model: "next model of the route",
  busy_model: "waiting for a busy model",
  account: "another account",
  unusable_account: "another account, as the last one could not be used",
  answer: "same account, as there was no visible answer",
  answer_account: "another account, as there was no visible answer",
  token: "new token",
  model_name: "the provider's name of the model",
  endpoint: "at another endpoint",
  refused_field: "without a field that the provider refuses",
  file: "after the provider had processed a file",
  format: "corrected format",
};

type ShownAttempt = TimelineRecord["upstream_attempts"][number];

function describeAttempt({ cause, account, model, ms, status, reason }: ShownAttempt, index: number): string {
  const why = cause === "" ? "" : ` (${CAUSES[cause] ?? cause})`;
  const where = account === "" ? model : `${model} with ${account}`;
  const failure = `failed: ${reason}${status === 0 ? "" : ` ${status}`}`;
  const result = ms === null ? "runs" : `${reason === "" ? "answered" : failure}, ${formatDuration(ms)}`;
  return `Attempt ${index + 1}${why}: ${where} ${result}`;
}

/**
 * Builds the steps of a generation, from the request to its end. Records of older versions have no times of failed
 * attempts.
 */
export function buildTimeline(record: TimelineRecord): Step[] {
  const { created_at, leased_at, tried, sign_ins, upstream_attempts, first_token_ms, status, elapsed_ms } =
    record;
  const toOffset = (at: number) => (at === 0 ? null : Math.max(0, at - created_at));
  const steps: Step[] = [{ at: 0, said: "Request received", tone: "neutral" }];
  const attempts = [
    ...tried.map(({ account, reason, message, at }) => ({
      at,
      said: `${account} failed: ${message} (${reason})`,
      tone: "bad" as const,
    })),
    // A single attempt shows no more than the other steps.
    ...(upstream_attempts.length < 2 ? [] : upstream_attempts).map((attempt, index) => ({
      at: attempt.at,
      said: describeAttempt(attempt, index),
      tone: "neutral" as const,
    })),
    ...sign_ins.map(({ account, at, ms }) => ({
      at,
      said: `Sign-in of ${account}, ${formatDuration(ms)}`,
      tone: "neutral" as const,
    })),
  ];
  // Attempts without a time come first, in their stored order.
  attempts.sort((a, b) => a.at - b.at);
  for (const { at, said: text, tone } of attempts) steps.push({ at: toOffset(at), said: text, tone });
  if (leased_at > 0 && record.attempts > tried.length && upstream_attempts.length < 2) {
    steps.push({ at: toOffset(leased_at), said: `Sent with ${describeAccount(record)}`, tone: "neutral" });
  }
  if (first_token_ms > 0) steps.push({ at: first_token_ms, said: "First token", tone: "neutral" });
  if (extractToolCallMarkup(record.content) !== "" || extractToolCallMarkup(record.reasoning) !== "") {
    steps.push({ at: null, said: "Tool calls", tone: "neutral" });
  }
  if (status === "streaming") return [...steps, { at: null, said: "In progress", tone: "neutral" }];
  const outcomes = {
    success: { said: "Completed", tone: "good" },
    cancelled: { said: "Client disconnected", tone: "neutral" },
  } as const;
  const outcome = status === "success" || status === "cancelled" ? outcomes[status] : null;
  const failure = { said: `Failed with ${record.status_code}: ${record.error}`, tone: "bad" } as const;
  return [...steps, { at: elapsed_ms, ...(outcome ?? failure) }];
}

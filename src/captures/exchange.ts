/** What an exchange with the upstream was for. */
export interface ExchangeKind {
  readonly label: string;
  /** The chat session, for a round of a generation; empty for anything else. */
  readonly chainKey: string;
}

const TURN = /\/api\/sessions\/([^/]+)\/turns(\/[^/]+\/continue)?$/;

const OTHERS: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/\/api\/login$/, "login"],
  [/\/api\/account$/, "account"],
  [/\/api\/sessions(?:\/[^/]+)?$/, "session"],
  [/\/(?:api\/)?files(?:\/[^/]+)?$/, "file"],
  [/\/models$/, "models"],
];

/**
 * Tells what an upstream address is for. A backend without sessions has one round a request, so the request's id stands
 * in for the session.
 */
export function exchangeKind(path: string, requestId: string): ExchangeKind {
  const turn = TURN.exec(path);
  if (turn !== null) {
    return { label: turn[2] === undefined ? "completion" : "continue", chainKey: turn[1] ?? requestId };
  }
  if (path.endsWith("/chat/completions")) return { label: "completion", chainKey: requestId };
  const label = OTHERS.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
  return { label, chainKey: "" };
}

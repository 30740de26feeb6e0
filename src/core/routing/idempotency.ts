import type { Caller } from "../auth/callers.ts";
import { toCanonicalJson } from "../encoding/canonical-json.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { clientDisconnected } from "../http/client-disconnect.ts";
import { sleep } from "../ports/clock.ts";
import type { Context } from "../ports/context.ts";
import { REPLAY_LEASE_MS, type ReplayAnswer, type ReplayClaim } from "../ports/replays.ts";
import { type RecordedAnswer, recordAnswer } from "./answer-recorder.ts";
import { respondWithinBudget } from "./budgeted-response.ts";
import { getPublicQuery } from "./public-query.ts";

/** The header of a repeated answer. */
const REPLAYED_HEADER = "idempotent-replayed";

/** Maximum length of a key, in characters. */
const MAX_KEY_LENGTH = 255;
/** Printable ASCII. */
const KEY = /^[\x20-\x7e]+$/;

/** How long a repeated request waits for the first one, and how often it looks, milliseconds. */
const MAX_WAIT_MS = 60_000;
const FIRST_POLL_MS = 200;
const MAX_POLL_MS = 2_000;

/** Serves the request. Its context has a request without the client's signal. */
type Serve = (context: Context) => Response | Promise<Response>;

/**
 * Serves a request with `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): at most once within 24 hours for each
 * caller. A repeated request gets the first one's answer, and waits while that runs. Only successful answers are stored. The
 * request runs to its end when its client leaves, so that a repeated request finds the answer.
 *
 * @param body the text of the body, or its value
 * @throws GatewayError 400 for an invalid key; 409 if the key was used for another request, or if the first request still
 *   runs after a minute; and the errors of `serve`.
 */
export function serveOnce(context: Context, caller: Caller, body: unknown, serve: Serve): Promise<Response> {
  // No async function: its frame would keep the body in memory while the request waits for an account.
  return createClaim(context, body)
    .then((claim) => claimOrReplay(context, caller, claim))
    .then((result) => (result instanceof Response ? result : run(context, caller, result, serve)));
}

/** Reads the key: a structured string (RFC 9651) as in the draft, or plain as most clients send it. */
function readKey(headers: Headers): string {
  const text = (headers.get("idempotency-key") ?? "").trim();
  const key = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  if (key !== "" && key.length <= MAX_KEY_LENGTH && KEY.test(key)) return key;
  throw invalidRequest(`Idempotency-Key must be 1 to ${MAX_KEY_LENGTH} printable ASCII characters`);
}

async function createClaim({ request, url, uniqueRequestId }: Context, body: unknown): Promise<ReplayClaim> {
  const id = readKey(request.headers);
  const target = request.headers.get("x-gateway-target-account") ?? "";
  const text = typeof body === "string" ? body : toCanonicalJson(body);
  const fingerprint = await sha256Hex(
    [request.method, url.pathname, getPublicQuery(url), target, text].join("\n"),
  );
  return { id, fingerprint, holder: uniqueRequestId };
}

function conflict(message: string, headers: Readonly<Record<string, string>>): GatewayError {
  return new GatewayError(409, message, { code: "invalid_request", param: "Idempotency-Key", headers });
}

/** Returns the claim when the request holds its key, or else the answer of the first request. */
async function claimOrReplay(
  context: Context,
  caller: Caller,
  claim: ReplayClaim,
): Promise<ReplayClaim | Response> {
  const store = context.platform.replays(caller.owner, context.startedAt);
  const { signal } = context.request;
  let pollMs = FIRST_POLL_MS;
  for (let waitedMs = 0; ; waitedMs += pollMs, pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const result = await store.claim(claim);
    if (result.state === "claimed") return claim;
    if (result.state === "answered") return replay(context, result.answer);
    if (result.state === "different") {
      // SDKs repeat a 409 unless the answer forbids it.
      throw conflict("this Idempotency-Key was used for another request", { "x-should-retry": "false" });
    }
    if (waitedMs >= MAX_WAIT_MS) {
      throw conflict("the first request with this Idempotency-Key is still running", { "retry-after": "5" });
    }
    await sleep(pollMs);
    if (signal.aborted) throw clientDisconnected();
  }
}

function replay(context: Context, { status, headers, body }: ReplayAnswer): Promise<Response> {
  return respondWithinBudget(context, body, { status, headers: { ...headers, [REPLAYED_HEADER]: "true" } });
}

/** The request without the client's signal: the work goes on when the client leaves. */
function withoutClientSignal({ url, method, headers }: Request): Request {
  return new Request(url, { method, headers, signal: new AbortController().signal });
}

/** Returns an answer as text for the store; null: it is no text. */
function toReplayAnswer({ status, headers, body }: RecordedAnswer): ReplayAnswer | null {
  try {
    return { status, headers, body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return null;
  }
}

/** Serves a request that holds its key, and stores its answer. */
function run(context: Context, caller: Caller, claim: ReplayClaim, serve: Serve): Promise<Response> {
  const { facts, waitUntil } = context;
  const store = context.platform.replays(caller.owner, context.startedAt);
  const renewalTimer = setInterval(() => {
    waitUntil(store.renew(claim).catch(() => undefined));
  }, REPLAY_LEASE_MS / 3);
  const settle = async (answer: RecordedAnswer | null) => {
    clearInterval(renewalTimer);
    const replay = answer === null || facts.error !== undefined ? null : toReplayAnswer(answer);
    // Without the store the answer is still delivered; the key becomes free when its lease ends.
    await store.settle(claim, replay).catch(() => undefined);
  };
  /** Settles when a streamed answer is sent. */
  let sending: Promise<void> | undefined;
  const detached: Context = {
    ...context,
    request: withoutClientSignal(context.request),
    keepUntil: (sent) => {
      sending = sent;
      context.keepUntil(sent);
    },
  };
  const answering = Promise.resolve(detached).then(serve);
  return answering.then(
    (response) => recordAnswer(context, response, { sending, onDeparture: "record", settle }),
    async (thrown: unknown) => {
      await settle(null);
      throw thrown;
    },
  );
}

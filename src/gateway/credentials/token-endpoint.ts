import { parseObject } from "../../core/encoding/json.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { SignInResult } from "../../core/ports/accounts.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { readErrorResponse } from "../providers/errors/error-response.ts";
import { readRecord, send } from "../providers/transport.ts";
import { ProxyFailure } from "../upstream/proxy/failure.ts";

/** The longest lifetime that is believed, seconds: ten years. */
const MAX_LIFETIME = 315_360_000;

/** An error code of RFC 6749, section 5.2. Other texts could contain a secret. */
const ERROR_CODE = /^[a-z_]{1,60}$/;

/** A request to a token endpoint (RFC 6749, section 3.2). */
export interface TokenRequest {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An access token, and the refresh token that comes with it, if any. */
export interface TokenAnswer extends SignInResult {
  readonly refreshToken: string | null;
}

/**
 * Requests an access token. No error contains a text of the endpoint, because it could repeat a secret.
 *
 * @param now milliseconds since the epoch
 * @throws ProviderError of a kind that blames the account: other accounts may have another endpoint, or a valid token
 */
export async function postTokenRequest(
  { url, form, headers = {} }: TokenRequest,
  fetch: Fetch,
  now: number,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const init = { method: "POST", headers: { ...headers, accept: "application/json" }, body: toForm(form) };
  try {
    const response = await send(fetch, url, init, signal);
    if (!response.ok) throw await readRefusal(response, signal);
    const answer = await readRecord(response, signal);
    const { access_token: token, expires_in: lifetime, refresh_token: refreshToken } = answer;
    if (typeof token !== "string" || token === "")
      throw new ProviderError("malformed", "the token endpoint's answer lacks an access token");
    return {
      token,
      expiresAt: readExpiry(lifetime, now),
      refreshToken: typeof refreshToken === "string" && refreshToken !== "" ? refreshToken : null,
    };
  } catch (error) {
    throw blameAccount(error);
  }
}

function toForm(fields: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams(Object.entries(fields));
}

/** Reads `expires_in`, which some endpoints write as a text. Returns Unix seconds; 0: unknown. */
function readExpiry(lifetime: unknown, now: number): number {
  const seconds = typeof lifetime === "string" ? Number.parseFloat(lifetime) : lifetime;
  if (typeof seconds !== "number" || !(seconds > 0)) return 0;
  return Math.floor(now / 1000 + Math.min(seconds, MAX_LIFETIME));
}

async function readRefusal(response: Response, signal: AbortSignal): Promise<ProviderError> {
  const { error, text } = await readErrorResponse(response, "", signal);
  const { status, retryAfter } = error;
  const code: unknown = parseObject(text)["error"];
  const codeNote = typeof code === "string" && ERROR_CODE.test(code) ? `: ${code}` : "";
  const message = `the token endpoint refused the account's credentials (status ${status}${codeNote})`;
  if (status === 429) return new ProviderError("rate_limited", message, { status, retryAfter });
  if (status < 400 || status >= 500 || status === 408) return error;
  return new ProviderError("invalid_credentials", message, { status });
}

const REFUSALS: readonly string[] = ["invalid_credentials", "rate_limited"];

/** Converts a failure of the endpoint. A failure of the account's proxy stays what it is. */
function blameAccount(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (error instanceof ProxyFailure && error.stage !== "answer") return error;
  if (REFUSALS.includes(error.kind)) return error;
  const statusNote = error.status === 0 ? "" : ` (status ${error.status})`;
  return new ProviderError("account_suspended", `the token endpoint failed${statusNote}`, { cause: error });
}

import type { JsonObject } from "../../../core/encoding/json.ts";
import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import type { Credentials, SignInResult } from "../../../core/ports/accounts.ts";
import type { Fetch } from "../../../core/ports/upstream.ts";
import { type ErrorKinds, readErrorResponse } from "../errors/error-response.ts";
import type { FileUpload, ProviderFile } from "../files/files-api.ts";
import { encodeMultipart } from "../files/multipart.ts";
import { readCount, unixSecondsOf } from "../json.ts";
import type { ProviderAccount } from "../provider.ts";
import { eventStreamOf, readRecord, send } from "../transport.ts";
import type { UpstreamAccount } from "../upstream-account.ts";

/** The body of one posted turn. */
export interface TurnBody {
  readonly parent_message_id: string | null;
  readonly model: string;
  readonly prompt: string;
  readonly file_ids: readonly string[];
  readonly thinking: boolean;
  readonly search: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
}

const SIGN_IN_KINDS: ErrorKinds = { statuses: { 400: "invalid_credentials", 401: "invalid_credentials" } };

/** The requests of the account-and-session protocol, one method for each. */
export class SessionsApi {
  readonly #baseUrl: string;
  readonly #newId: () => string;

  /** @param newId creates the boundary of multipart bodies. */
  constructor(baseUrl: string, newId: () => string) {
    this.#baseUrl = withoutTrailingSlashes(baseUrl);
    this.#newId = newId;
  }

  async signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignInResult> {
    const { email, mobile, password } = credentials;
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...(email === "" ? { mobile } : { email }), password }),
    };
    const response = await send(fetch, `${this.#baseUrl}/api/login`, init, signal);
    if (!response.ok) throw (await readErrorResponse(response, password, signal, SIGN_IN_KINDS)).error;
    const { token, expires_at: expiresAt } = await readRecord(response, signal);
    if (typeof token !== "string" || token === "") throw missingFieldError("a token");
    return { token, expiresAt: unixSecondsOf(expiresAt) };
  }

  async checkAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const record = await this.#json(account, "GET", "/api/account", signal);
    const { id, session_count: count } = record;
    return { id: requireText(id, "an account id"), sessionCount: readCount(count) ?? 0 };
  }

  async createSession(account: UpstreamAccount, signal: AbortSignal): Promise<string> {
    const { id } = await this.#json(account, "POST", "/api/sessions", signal);
    return requireText(id, "a session id");
  }

  async deleteSession(account: UpstreamAccount, sessionId: string, signal: AbortSignal): Promise<void> {
    const response = await this.#send(
      account,
      "DELETE",
      `/api/sessions/${encodeURIComponent(sessionId)}`,
      signal,
    );
    await response.body?.cancel();
  }

  async deleteAllSessions(account: UpstreamAccount, signal: AbortSignal): Promise<number> {
    const { deleted } = await this.#json(account, "DELETE", "/api/sessions", signal);
    return typeof deleted === "number" ? deleted : 0;
  }

  /** Posts a turn. Returns the event stream of its answer. */
  async postTurn(
    account: UpstreamAccount,
    sessionId: string,
    turn: TurnBody,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const path = `/api/sessions/${encodeURIComponent(sessionId)}/turns`;
    return this.#stream(account, path, signal, JSON.stringify(turn));
  }

  /** Continues an incomplete message. */
  async continueTurn(
    account: UpstreamAccount,
    sessionId: string,
    messageId: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const turns = `/api/sessions/${encodeURIComponent(sessionId)}/turns`;
    return this.#stream(account, `${turns}/${encodeURIComponent(messageId)}/continue`, signal);
  }

  async uploadFile(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile> {
    const { filename, mediaType, model, body } = upload;
    const fieldsAfter = () => {
      const purpose = typeof upload.purpose === "string" ? upload.purpose : upload.purpose();
      return purpose === "" ? {} : { purpose };
    };
    const form = encodeMultipart(
      { fields: { model }, fieldsAfter, filename, mediaType, body },
      `form-${this.#newId()}`,
    );
    const headers = { "content-type": form.contentType };
    return toFile(await this.#json(account, "POST", "/api/files", signal, form.body, headers));
  }

  async readFile(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile> {
    return toFile(await this.#json(account, "GET", `/api/files/${encodeURIComponent(fileId)}`, signal));
  }

  async #json(
    account: UpstreamAccount,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: BodyInit,
    headers?: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    return readRecord(await this.#send(account, method, path, signal, body, headers), signal);
  }

  async #stream(
    account: UpstreamAccount,
    path: string,
    signal: AbortSignal,
    body?: string,
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = {
      accept: "text/event-stream",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    return eventStreamOf(await this.#send(account, "POST", path, signal, body, headers));
  }

  /** Sends a request on behalf of an account. Throws a `ProviderError` for any error response. */
  async #send(
    account: UpstreamAccount,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: BodyInit,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const init = {
      method,
      headers: { authorization: `Bearer ${account.token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    };
    const response = await send(account.fetch, this.#baseUrl + path, init, signal);
    if (!response.ok) throw (await readErrorResponse(response, account.token, signal)).error;
    return response;
  }
}

function toFile(record: JsonObject): ProviderFile {
  const { id, bytes, filename, purpose, status, created_at: createdAt } = record;
  return {
    id: requireText(id, "a file id"),
    bytes: readCount(bytes) ?? 0,
    filename: typeof filename === "string" ? filename : "",
    purpose: typeof purpose === "string" ? purpose : "",
    status: typeof status === "string" ? status : "pending",
    createdAt: unixSecondsOf(createdAt),
  };
}

function requireText(value: unknown, fieldName: string): string {
  if (typeof value !== "string" || value === "") throw missingFieldError(fieldName);
  return value;
}

function missingFieldError(fieldName: string): ProviderError {
  return new ProviderError("malformed", `the provider's answer lacks ${fieldName}`);
}

import { altersUrlPath } from "../../../core/conversation/model-path.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { type ErrorKinds, readErrorResponse } from "../errors/error-response.ts";
import { readRecord, send } from "../transport.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { FilesApi, FileUpload, ProviderFile } from "./files-api.ts";
import type { MultipartBody } from "./multipart.ts";

/** How a protocol of keyed backends stores files. */
export interface FileProtocol {
  /** The address of all files; `/` and an id follow for one of them. */
  readonly address: string;
  /** The address that receives uploads. Default: `address`. */
  readonly uploadAddress?: string;
  /** The headers of every request. */
  readonly headers: (account: UpstreamAccount) => Readonly<Record<string, string>>;
  /** Further headers of uploads. */
  readonly uploadHeaders?: Readonly<Record<string, string>>;
  /** What follows the address of a file in the address of its content. */
  readonly contentSuffix: string;
  /** The error codes that do not follow from the status, and the form of errors. */
  readonly kinds: Pick<ErrorKinds, "codes" | "read">;
  encode(upload: FileUpload, boundary: string): MultipartBody;
  /** Throws a `ProviderError` `malformed` for an object that describes no file. */
  readFile(record: JsonObject): ProviderFile;
}

/** A 403 concerns the file or the account's storage. Only other requests tell whether the account works. */
const STATUSES = { 403: "invalid_request", 404: "not_found", 410: "not_found" } as const;

/** The rejection of a missing file by a backend that hides which files exist (Gemini: 403). */
const MAY_NOT_EXIST = /may not exist/i;

/** Statuses of an upload to a backend that has no place for files. */
const NO_UPLOADS: readonly number[] = [404, 405, 501];

/** The files of a backend that authenticates with an API key. */
export class KeyedFiles implements Required<Omit<FilesApi, "showsOwnIds">> {
  readonly #protocol: FileProtocol;
  readonly #newId: () => string;

  /** @param newId creates the boundaries of multipart bodies */
  constructor(protocol: FileProtocol, newId: () => string) {
    this.#protocol = protocol;
    this.#newId = newId;
  }

  async upload(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile> {
    const { address, uploadAddress = address, uploadHeaders, headers, encode, readFile } = this.#protocol;
    const { contentType, body } = encode(upload, `form-${this.#newId()}`);
    const init = {
      method: "POST",
      headers: { ...headers(account), ...uploadHeaders, "content-type": contentType },
      body,
    };
    const response = await send(account.fetch, uploadAddress, init, signal);
    if (NO_UPLOADS.includes(response.status)) {
      await response.body?.cancel();
      throw new GatewayError(
        501,
        "the provider's backend stores no files: send the file within the request",
        {
          code: "unsupported",
        },
      );
    }
    return readFile(await readRecord(await this.#accepted(response, account, signal), signal));
  }

  async read(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile> {
    const response = await this.#send(account, "GET", fileId, "", signal);
    return this.#protocol.readFile(await readRecord(response, signal));
  }

  async delete(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<void> {
    await (await this.#send(account, "DELETE", fileId, "", signal)).body?.cancel();
  }

  async readContent(
    account: UpstreamAccount,
    fileId: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send(account, "GET", fileId, this.#protocol.contentSuffix, signal);
    return response.body ?? new Blob([]).stream();
  }

  async #send(
    account: UpstreamAccount,
    method: string,
    fileId: string,
    suffix: string,
    signal: AbortSignal,
  ): Promise<Response> {
    if (fileId.includes("/") || altersUrlPath(fileId))
      throw new ProviderError("not_found", "there is no such file");
    const { address, headers } = this.#protocol;
    const url = `${address}/${encodeURIComponent(fileId)}${suffix}`;
    const response = await send(account.fetch, url, { method, headers: headers(account) }, signal);
    return this.#accepted(response, account, signal);
  }

  /** Returns the response. Throws a `ProviderError` for an error response. */
  async #accepted(response: Response, account: UpstreamAccount, signal: AbortSignal): Promise<Response> {
    if (response.ok) return response;
    const kinds = { ...this.#protocol.kinds, statuses: STATUSES };
    const { error, text } = await readErrorResponse(response, account.token, signal, kinds);
    const isMissing = response.status === 403 && MAY_NOT_EXIST.test(text);
    throw isMissing ? new ProviderError("not_found", error.message, { status: error.status }) : error;
  }
}

/** Reads the id of a file. Throws a `ProviderError` `malformed` without one. */
export function readFileId(id: unknown): string {
  if (typeof id === "string" && id !== "") return id;
  throw new ProviderError("malformed", "the provider's answer lacks a file id");
}

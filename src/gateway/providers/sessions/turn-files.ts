import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import type { FileUpload, ProviderFile } from "../files/files-api.ts";
import type { PrepareOptions } from "../provider.ts";
import { allOrAbort } from "../requests/all-or-abort.ts";
import { ImageWithoutVisionError, type LoadedAttachment, loadAttachment } from "../requests/attachments.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { SessionsApi } from "./api.ts";
import type { SentAttachment } from "./prompt.ts";
import type { TextFile } from "./prompt-shortening.ts";

/** How often, and for how long, the status of a file in processing is checked, in milliseconds. */
const POLL_MS = 250;
const PROCESSING_LIMIT_MS = 30_000;

/** Waits. Rejects with the signal's reason on abort. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** What a turn sends in addition to its prompt. */
export interface TurnAttachments {
  readonly attachments: readonly SentAttachment[];
  readonly textFiles: readonly TextFile[];
  /** The provider's model that reads the files, and whether it has vision. */
  readonly model: string;
  readonly vision: boolean;
  /** The name of the messages field in the caller's API style, for error messages. */
  readonly field: string;
}

/** Uploads the files of one turn. Follow-ups on the same account reuse the uploaded files. */
export class TurnFiles {
  readonly #api: SessionsApi;
  readonly #attachments: TurnAttachments;
  readonly #options: PrepareOptions;
  readonly #sleep: Sleep;
  readonly #bytes = new Map<SentAttachment, LoadedAttachment>();
  #uploaded: { readonly token: string; readonly ids: readonly string[] } | null = null;

  constructor(api: SessionsApi, attachments: TurnAttachments, options: PrepareOptions, sleep: Sleep) {
    this.#api = api;
    this.#attachments = attachments;
    this.#options = options;
    this.#sleep = sleep;
  }

  /**
   * Fetches attachments that are behind URLs. Throws a `GatewayError` 400 for an attachment that the model does not
   * support.
   */
  async load(signal: AbortSignal): Promise<void> {
    const remote = this.#attachments.attachments.filter(({ source }) => source.kind === "url");
    await allOrAbort(
      signal,
      remote.map((attachment) => (all) => this.#loaded(attachment, all)),
    );
  }

  /** Uploads all files and returns their ids, in the order of their numbers in the prompt. */
  async ids(account: UpstreamAccount, signal: AbortSignal): Promise<readonly string[]> {
    const { attachments, textFiles } = this.#attachments;
    if (attachments.length + textFiles.length === 0) return [];
    if (this.#uploaded?.token === account.token) return this.#uploaded.ids;
    const ids = await allOrAbort(signal, [
      ...attachments.map((attachment) => (all: AbortSignal) => this.#attachment(account, attachment, all)),
      ...textFiles.map((file) => (all: AbortSignal) => this.#textFile(account, file, all)),
    ]);
    this.#uploaded = { token: account.token, ids };
    return ids;
  }

  async #attachment(
    account: UpstreamAccount,
    attachment: SentAttachment,
    signal: AbortSignal,
  ): Promise<string> {
    if (attachment.source.kind === "file") return this.#earlier(account, attachment.source.fileId, signal);
    const { bytes, mediaType } = await this.#loaded(attachment, signal);
    return this.#upload(account, attachment.filename, mediaType, bytes, signal);
  }

  /** Returns the bytes of an attachment. Fetches each URL once, however often the turn is sent. */
  async #loaded(attachment: SentAttachment, signal: AbortSignal): Promise<LoadedAttachment> {
    const known = this.#bytes.get(attachment);
    if (known !== undefined) return known;
    const loaded = await loadAttachment(attachment, this.#options, signal);
    // The media type behind a URL is known only after loading.
    const image = loaded.mediaType.startsWith("image/");
    const { field, vision } = this.#attachments;
    if (image && !vision) throw new ImageWithoutVisionError(field, attachment.filename);
    if (attachment.kind === "image" && loaded.mediaType.startsWith("text/")) {
      throw invalidRequest(
        `${field} contains ${attachment.filename} as an image, but it is ${loaded.mediaType}`,
        field,
      );
    }
    this.#bytes.set(attachment, loaded);
    return loaded;
  }

  #textFile(account: UpstreamAccount, file: TextFile, signal: AbortSignal): Promise<string> {
    const bytes = new TextEncoder().encode(file.text);
    return this.#upload(account, file.filename, "text/plain; charset=utf-8", bytes, signal);
  }

  async #upload(
    account: UpstreamAccount,
    filename: string,
    mediaType: string,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<string> {
    const upload: FileUpload = {
      filename,
      mediaType,
      purpose: "user_data",
      model: this.#attachments.model,
      body,
    };
    const file = await this.#api.uploadFile(account, upload, signal);
    return this.#waitUntilProcessed(account, file, signal);
  }

  /** Returns a file that the caller uploaded before the conversation. */
  async #earlier(account: UpstreamAccount, id: string, signal: AbortSignal): Promise<string> {
    try {
      return await this.#waitUntilProcessed(account, await this.#api.readFile(account, id, signal), signal);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== "not_found") throw error;
      const { field } = this.#attachments;
      throw new GatewayError(404, `${field} refers to the file ${JSON.stringify(id)}, which does not exist`, {
        code: "file_not_found",
        param: field,
      });
    }
  }

  /** Waits until the provider has processed a file. */
  async #waitUntilProcessed(
    account: UpstreamAccount,
    uploaded: ProviderFile,
    signal: AbortSignal,
  ): Promise<string> {
    let file = uploaded;
    for (let waitedMs = 0; file.status === "pending"; waitedMs += POLL_MS) {
      if (waitedMs >= PROCESSING_LIMIT_MS) {
        // Administrators see it as the account's last error, so it must not name the caller's file.
        throw new ProviderError("timeout", "the provider did not finish processing an attached file");
      }
      await this.#sleep(POLL_MS, signal);
      file = await this.#api.readFile(account, file.id, signal);
    }
    if (file.status === "failed") {
      throw new ProviderError("invalid_request", `the provider could not process the file ${file.filename}`);
    }
    return file.id;
  }
}

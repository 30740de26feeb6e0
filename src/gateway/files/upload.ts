import type { Caller } from "../../core/auth/callers.ts";
import { BodyDeadline } from "../../core/http/body-deadline.ts";
import { bodyTimedOut } from "../../core/http/json-text.ts";
import type { Context } from "../../core/ports/context.ts";
import type { FileRecord } from "../../core/ports/files.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import { CATALOGUE } from "../models/catalogue.ts";
import type { ProviderFile } from "../providers/files/files-api.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import type { FileProvider } from "./file-provider.ts";
import { guessMediaType } from "./media-type-by-name.ts";
import { parseLifetime, parseRequestedLifetime } from "./record-lifetime.ts";

/** An uploaded file, and its stored record. `file` is as the provider describes it, with the id that callers know. */
export interface UploadedFile {
  readonly file: ProviderFile;
  readonly record: FileRecord;
}

/** The description of a file, known before its bytes. */
export interface FileHead {
  readonly filename: string;
  /** The caller's own name for the file, in styles that keep it separate from the file name. */
  readonly displayName?: string;
  readonly mediaType: string;
}

/** A file that a caller is uploading. */
export interface IncomingFile {
  /**
   * Reads up to the start of the file.
   *
   * @throws GatewayError 400 if there is no file.
   */
  head(): Promise<FileHead>;
  /** The file's bytes. Fails with the `GatewayError` of an invalid request. */
  readonly content: ReadableStream<Uint8Array>;
  /** Other fields of the upload, as far as they have been read. */
  readonly fields: ReadonlyMap<string, string>;
  /** Calls `onBroken` when the request's body breaks off, also while nothing reads `content`. Call it after `head`. */
  watch(onBroken: (error: unknown) => void): void;
}

/** One upload, from the caller's request to the provider's account. */
export class Upload {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #target: FileProvider;
  readonly #incoming: IncomingFile;
  readonly #style: string;
  readonly #abort: AbortController;
  readonly #attemptTimeout: AttemptTimeout;

  /**
   * `style` is the name in the queue's status. `target` receives the file. `abort` ends the upload. It is also aborted
   * if the client's body breaks off or is too slow, or if the lease is lost.
   */
  constructor(
    context: Context,
    caller: Caller,
    style: string,
    target: FileProvider,
    form: IncomingFile,
    abort: AbortController,
  ) {
    this.#context = context;
    this.#caller = caller;
    this.#style = style;
    this.#target = target;
    this.#incoming = form;
    this.#abort = abort;
    this.#attemptTimeout = new AttemptTimeout(target.provider.timeouts.firstByteTimeoutMs, abort.signal);
  }

  /**
   * Streams the file to the provider and stores a record for its caller. Takes a slot only when the file starts.
   *
   * @throws GatewayError if the form is invalid or no account is available.
   * @throws ProviderError if the provider did not accept the file.
   */
  async run(): Promise<UploadedFile> {
    const stated = await this.#incoming.head();
    const head = { ...stated, mediaType: guessMediaType(stated.mediaType, stated.filename) };
    this.#incoming.watch((error) => this.#abort.abort(error));
    let sending = false;
    return withAccount(
      {
        context: this.#context,
        caller: this.#caller,
        provider: this.#target.provider,
        model: "",
        dialect: this.#style,
        abort: this.#abort,
        // A stream cannot be sent twice.
        canRetry: () => !sending,
      },
      async (session) => {
        const account = await this.#validateToken(session);
        sending = true;
        const file = await this.#send(session.account, head);
        const record = this.#createRecord(file, head, account);
        await this.#context.platform.files(this.#caller.owner, this.#context.startedAt).put(record);
        return { file: { ...file, id: record.id }, record };
      },
    );
  }

  /** Validates the account's token before the upload starts. Returns the account id for the file object. */
  async #validateToken(session: AccountSession): Promise<string> {
    const { api } = this.#target.provider;
    this.#attemptTimeout.restart();
    try {
      const { id } = await session.runWithToken((account) =>
        api.checkAccount(account, this.#attemptTimeout.signal),
      );
      return session.accountId || id;
    } finally {
      this.#attemptTimeout.stop();
    }
  }

  async #send(account: UpstreamAccount, head: FileHead): Promise<ProviderFile> {
    const source = this.#incoming.content.getReader();
    const { provider, files } = this.#target;
    let reading = false;
    // Each wait for the client or the provider has its own limit. This clock limits the total time.
    const clock = new BodyDeadline(provider.timeouts.answerTimeoutMs, () => {
      if (reading) this.#abort.abort(bodyTimedOut());
      else this.#attemptTimeout.expire();
    });
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          // From here on the time depends on the client, and the form parser limits it.
          this.#attemptTimeout.stop();
          reading = true;
          const { done, value } = await source.read().catch((error: unknown) => {
            // Some runtimes do not report to the sender why its body failed.
            this.#abort.abort(error);
            throw error;
          });
          reading = false;
          clock.addReceived(value?.byteLength ?? 0);
          this.#attemptTimeout.restart();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
    this.#attemptTimeout.restart();
    try {
      return await files.upload(
        account,
        {
          filename: head.filename,
          mediaType: head.mediaType,
          purpose: () => this.#incoming.fields.get("purpose") ?? "",
          lifetime: () => parseRequestedLifetime(this.#incoming.fields),
          model: selectModelForFile(head.mediaType),
          body,
        },
        this.#attemptTimeout.signal,
      );
    } finally {
      clock.stop();
      this.#attemptTimeout.stop();
    }
  }

  #createRecord(file: ProviderFile, head: FileHead, account: string): FileRecord {
    const now = this.#context.platform.now();
    const lifetime = parseLifetime(this.#incoming.fields) * 1000;
    const { provider, files } = this.#target;
    const expiresAt = Math.min(now + lifetime, (file.expiresAt ?? Number.POSITIVE_INFINITY) * 1000);
    return {
      ...(files.showsOwnIds === true ? { id: file.id } : { id: createFileId(), upstreamId: file.id }),
      ...(provider.id === "" ? {} : { provider: provider.id }),
      ...(file.uri === undefined ? {} : { uri: file.uri }),
      account,
      filename: file.filename || head.filename,
      ...(head.displayName === undefined ? {} : { displayName: head.displayName }),
      mediaType: head.mediaType,
      purpose: file.purpose || (this.#incoming.fields.get("purpose") ?? ""),
      bytes: file.bytes,
      status: file.status,
      createdAt: file.createdAt || Math.floor(now / 1000),
      expiresAt,
    };
  }
}

/** Creates an id that all API styles accept. Names of the content-generation style have at most 40 characters. */
function createFileId(): string {
  return `file-${crypto.randomUUID().replaceAll("-", "")}`;
}

/** Returns the provider's model that will read a file: the vision model for images. */
function selectModelForFile(mediaType: string): string {
  const image = mediaType.startsWith("image/");
  return CATALOGUE.find(({ vision }) => vision === image)?.upstream ?? "flash";
}

import type { AccountSession } from "../accounts/account-request.ts";
import { Patience } from "../accounts/patience.ts";
import { withAccount } from "../accounts/with-account.ts";
import type { Caller } from "../auth/callers.ts";
import { BodyClock } from "../http/body-clock.ts";
import { tooSlow } from "../http/json-text.ts";
import type { LightAbortController } from "../http/light-abort-controller.ts";
import { CATALOGUE } from "../models/catalogue.ts";
import type { Context } from "../platform/context.ts";
import type { KeptFile } from "../platform/files.ts";
import { providerOf } from "../provider/of-platform.ts";
import type { FileKeeping, ProviderFile, UpstreamAccount } from "../provider/provider.ts";
import { lifetimeOf } from "./expiry.ts";

/** An uploaded file at the provider, and its stored record. */
export interface Uploaded {
  readonly file: ProviderFile;
  readonly kept: KeptFile;
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
}

/** One upload, from the caller's request to the provider's account. */
export class Upload {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #files: FileKeeping;
  readonly #form: IncomingFile;
  readonly #style: string;
  readonly #abort: LightAbortController;
  readonly #patience: Patience;

  /**
   * `style` is the name in the queue's status. `abort` ends the upload. It is also aborted if the client's body breaks off
   * or is too slow, or if the lease is lost.
   */
  constructor(
    context: Context,
    caller: Caller,
    style: string,
    files: FileKeeping,
    form: IncomingFile,
    abort: LightAbortController,
  ) {
    this.#context = context;
    this.#caller = caller;
    this.#style = style;
    this.#files = files;
    this.#form = form;
    this.#abort = abort;
    this.#patience = new Patience(context.platform.variables.firstByteTimeoutMs, abort.signal);
  }

  /**
   * Streams the file to the provider and stores a record for its caller. Takes a slot only when the file starts.
   *
   * @throws GatewayError if the form is invalid or no account is available.
   * @throws ProviderError if the provider did not accept the file.
   */
  async run(): Promise<Uploaded> {
    const head = await this.#form.head();
    let sending = false;
    return withAccount(
      {
        context: this.#context,
        caller: this.#caller,
        model: "",
        dialect: this.#style,
        abort: this.#abort,
        // A stream cannot be sent twice.
        mayRepeat: () => !sending,
      },
      async (session) => {
        const account = await this.#tried(session);
        sending = true;
        const file = await this.#send(session.account, head);
        const kept = this.#remembered(file, head, account);
        await this.#context.platform.files(this.#caller.owner).put(kept);
        return { file, kept };
      },
    );
  }

  /** Validates the account's token before the upload starts. Returns the account id for the file object. */
  async #tried(session: AccountSession): Promise<string> {
    const provider = providerOf(this.#context.platform);
    this.#patience.renew();
    try {
      const { id } = await session.call((account) =>
        provider.describeAccount(account, this.#patience.signal),
      );
      return session.accountId || id;
    } finally {
      this.#patience.end();
    }
  }

  async #send(account: UpstreamAccount, head: FileHead): Promise<ProviderFile> {
    const source = this.#form.content.getReader();
    const { timers, platform } = this.#context;
    let reading = false;
    // Each wait for the client or the provider has its own limit. This clock limits the total time.
    const clock = new BodyClock(timers, platform.variables.answerTimeoutMs, () => {
      if (reading) this.#abort.abort(tooSlow());
      else this.#patience.expire();
    });
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          // The client's sending takes the time from here on, and the form limits it.
          this.#patience.end();
          reading = true;
          try {
            const { done, value } = await source.read();
            reading = false;
            clock.heard(value?.byteLength ?? 0);
            this.#patience.renew();
            if (done) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            // Some runtimes do not report to the sender why its body failed.
            this.#abort.abort(error);
            controller.error(error);
          }
        },
      },
      { highWaterMark: 0 },
    );
    this.#patience.renew();
    try {
      return await this.#files.upload(
        account,
        {
          filename: head.filename,
          mediaType: head.mediaType,
          purpose: () => this.#form.fields.get("purpose") ?? "",
          model: modelFor(head.mediaType),
          body,
        },
        this.#patience.signal,
      );
    } finally {
      clock.stop();
      this.#patience.end();
    }
  }

  #remembered(file: ProviderFile, head: FileHead, account: string): KeptFile {
    const now = this.#context.platform.now();
    const lifetime = lifetimeOf(this.#form.fields) * 1000;
    return {
      id: file.id,
      account,
      filename: file.filename || head.filename,
      ...(head.displayName === undefined ? {} : { displayName: head.displayName }),
      mediaType: head.mediaType,
      purpose: file.purpose || (this.#form.fields.get("purpose") ?? ""),
      bytes: file.bytes,
      status: file.status,
      createdAt: file.createdAt || Math.floor(now / 1000),
      expiresAt: now + lifetime,
    };
  }
}

/** Returns the provider's model that will read a file: the vision model for images. */
function modelFor(mediaType: string): string {
  const image = mediaType.startsWith("image/");
  return CATALOGUE.find(({ vision }) => vision === image)?.upstream ?? "flash";
}

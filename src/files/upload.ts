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

/** A file that has arrived, and what is remembered of it. */
export interface Uploaded {
  readonly file: ProviderFile;
  readonly kept: KeptFile;
}

/** What is said of a file before its bytes. */
export interface FileHead {
  readonly filename: string;
  /** What its caller calls it, where the style keeps that apart from the name of the file. */
  readonly displayName?: string;
  readonly mediaType: string;
}

/** A file as it comes in from its caller. */
export interface IncomingFile {
  /** Reads up to the file. Throws a `GatewayError` 400 when there is none. */
  head(): Promise<FileHead>;
  /** The file's bytes. Errors with the `GatewayError` that is wrong with the request. */
  readonly content: ReadableStream<Uint8Array>;
  /** What else the caller says of it, so far. */
  readonly fields: ReadonlyMap<string, string>;
}

/** One upload: from the caller's request to an account's files. */
export class Upload {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #files: FileKeeping;
  readonly #form: IncomingFile;
  readonly #style: string;
  readonly #abort: LightAbortController;
  readonly #patience: Patience;

  /** `style` is what the queue's status calls it. `abort` ends the upload; it is also aborted here when the client breaks off or the slot is lost. */
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
   * Passes the file on as it comes in, and remembers it for its caller. Nobody's slot is taken before the file begins.
   *
   * @throws GatewayError what is wrong with the form, or why no account could be had.
   * @throws ProviderError why the provider did not take the file.
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
        // A stream cannot be sent a second time.
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

  /** Tries the account's token before anything depends on it. Returns what the file object calls the account. */
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
    // Each wait for the client or the provider has a limit of its own; this one bounds them all together.
    const clock = new BodyClock(timers, platform.variables.answerTimeoutMs, () => {
      if (reading) this.#abort.abort(tooSlow());
      else this.#patience.expire();
    });
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          // What takes time now is the client's sending, which the form bounds.
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
            // Not every runtime tells the sender why its body broke off.
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

/** The provider's model that a file is prepared for: images for the one that sees. */
function modelFor(mediaType: string): string {
  const image = mediaType.startsWith("image/");
  return CATALOGUE.find(({ vision }) => vision === image)?.upstream ?? "flash";
}

import { type Access, openAccess } from "../../accounts/access.ts";
import { renewLease } from "../../accounts/lease-renewal.ts";
import type { Caller } from "../../auth/callers.ts";
import { isAccountFault, ProviderError } from "../../errors/provider-error.ts";
import { CATALOGUE } from "../../models/catalogue.ts";
import type { Context } from "../../platform/context.ts";
import type { KeptFile } from "../../platform/files.ts";
import type { ProviderFile, UpstreamAccount } from "../../provider/provider.ts";
import { lifetimeOf } from "./expiry.ts";
import type { FileHead, UploadForm } from "./form.ts";
import { Patience } from "./patience.ts";

/** Other accounts that are tried when one is refused. */
const MAX_FAILOVERS = 2;

/** Managed access, or the caller's own, whose token the provider has just accepted. */
interface ReadyAccess {
  readonly access: Access;
  readonly account: UpstreamAccount;
  /** What the file object calls the account. */
  readonly accountId: string;
}

/** One upload: from the caller's form to an account's files. */
export class Upload {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #form: UploadForm;
  readonly #abort: AbortController;
  readonly #patience: Patience;

  /** `abort` ends the upload; it is also aborted here when the provider falls silent or the slot is lost. */
  constructor(context: Context, caller: Caller, form: UploadForm, abort: AbortController) {
    this.#context = context;
    this.#caller = caller;
    this.#form = form;
    this.#abort = abort;
    this.#patience = new Patience(context.platform.settings.firstByteTimeoutMs, abort);
  }

  /**
   * Passes the file on as it comes in, and remembers it for its caller. Nobody's slot is taken before the file begins.
   *
   * @throws GatewayError what is wrong with the form, or why no account could be had.
   * @throws ProviderError why the provider did not take the file.
   */
  async run(): Promise<{ file: ProviderFile; kept: KeptFile }> {
    const head = await this.#form.head();
    const { access, account, accountId } = await this.#readyAccess();
    const stopRenewal = renewLease(access.lease, this.#abort);
    try {
      const file = await this.#send(account, head);
      await access.lease?.succeeded().catch(() => undefined);
      const kept = this.#remembered(file, head, accountId);
      await this.#context.platform.files(this.#caller.owner).put(kept);
      return { file, kept };
    } catch (error) {
      await this.#blame(access, error);
      throw error;
    } finally {
      stopRenewal();
      access.lease?.release();
    }
  }

  /**
   * An account whose token works. It is tried beforehand, because a stream cannot be sent a second time with another
   * token or to another account.
   */
  async #readyAccess(): Promise<ReadyAccess> {
    const exclude: string[] = [];
    let refused: unknown;
    for (let failovers = 0; ; failovers += 1) {
      let access: Access;
      try {
        access = await openAccess(this.#context, this.#caller, {
          model: "",
          dialect: "files",
          exclude,
          signal: this.#abort.signal,
        });
      } catch (error) {
        throw refused ?? error;
      }
      this.#patience.renew();
      try {
        return await this.#checked(access);
      } catch (error) {
        await this.#blame(access, error);
        access.lease?.release();
        const another =
          error instanceof ProviderError &&
          isAccountFault(error.kind) &&
          access.lease !== null &&
          this.#caller.targetAccount === null;
        if (!another || failovers === MAX_FAILOVERS) throw error;
        refused = error;
        exclude.push(access.accountId);
      } finally {
        this.#patience.end();
      }
    }
  }

  async #checked(access: Access): Promise<ReadyAccess> {
    const { signal } = this.#abort;
    const provider = this.#context.provider();
    let { account } = access;
    let described = await provider.describeAccount(account, signal).catch((error: unknown) => {
      if (error instanceof ProviderError && error.kind === "token_expired") return null;
      throw error;
    });
    if (described === null) {
      const renewed = await access.refreshed(signal);
      if (renewed === null) throw new ProviderError("token_expired", "the provider refused the token", 401);
      account = renewed.account;
      described = await provider.describeAccount(account, signal);
    }
    return { access, account, accountId: access.accountId || described.id };
  }

  async #send(account: UpstreamAccount, head: FileHead): Promise<ProviderFile> {
    const source = this.#form.content.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          this.#patience.renew();
          try {
            const { done, value } = await source.read();
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
      return await this.#context.provider().uploadFile(
        account,
        {
          filename: head.filename,
          mediaType: head.mediaType,
          purpose: () => this.#form.fields.get("purpose") ?? "",
          model: modelFor(head.mediaType),
          body,
        },
        this.#abort.signal,
      );
    } finally {
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
      mediaType: head.mediaType,
      purpose: file.purpose || (this.#form.fields.get("purpose") ?? ""),
      bytes: file.bytes,
      createdAt: file.createdAt || Math.floor(now / 1000),
      expiresAt: now + lifetime,
    };
  }

  async #blame(access: Access, error: unknown): Promise<void> {
    if (access.lease === null || !(error instanceof ProviderError) || this.#abort.signal.aborted) return;
    if (isAccountFault(error.kind)) await access.lease.failed(error.kind, error.message);
  }
}

/** The provider's model that a file is prepared for: images for the one that sees. */
function modelFor(mediaType: string): string {
  const image = mediaType.startsWith("image/");
  return CATALOGUE.find(({ vision }) => vision === image)?.upstream ?? "flash";
}

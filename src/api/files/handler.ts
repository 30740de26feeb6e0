import { type Access, openAccess } from "../../accounts/access.ts";
import { authenticateCaller, type Caller } from "../../auth/callers.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../errors/provider-error.ts";
import { drain } from "../../http/json-body.ts";
import type { Context, Handler } from "../../platform/context.ts";
import type { KeptFile } from "../../platform/files.ts";
import type { ProviderFile } from "../../provider/provider.ts";
import { lifetimeOf } from "./expiry.ts";
import { UploadForm } from "./form.ts";
import { fileObject } from "./object.ts";
import { Patience } from "./patience.ts";
import { Upload } from "./upload.ts";

/** Contract, Limits: upload body size, in bytes. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** How long a refused upload is still read, in milliseconds. */
const DRAIN_MS = 60_000;

/** What a client still sends. */
type Rest = Pick<UploadForm, "drain" | "cancel">;

/** The 404 of a file that is not there, is not there any more, or is another caller's. */
function fileNotFound(id: string): GatewayError {
  return new GatewayError(404, `there is no file with id ${JSON.stringify(id)}`, {
    code: "file_not_found",
    param: "file_id",
  });
}

/** `POST /v1/files` (contract). */
export const uploadFile: Handler = (context) => {
  context.log.dialect = "files";
  const work = receive(context);
  // Only work under `waitUntil` goes on to its `finally` when the client leaves.
  context.waitUntil(work.catch(() => undefined));
  return work;
};

async function receive(context: Context): Promise<Response> {
  const { request, platform } = context;
  const { abort, stop } = abortWith(request);
  let form: UploadForm | undefined;
  try {
    const caller = await authenticateCaller(context);
    if (context.provider().kind === "openai") {
      throw new GatewayError(501, "this provider keeps no files: send them within the request", {
        code: "unsupported",
      });
    }
    const limits = { bytes: MAX_UPLOAD_BYTES, idleMs: platform.settings.idleTimeoutMs };
    form = new UploadForm(request, limits, ({ fields }) => void lifetimeOf(fields));
    const { file, kept } = await new Upload(context, caller, form, abort).run();
    context.log.account = kept.account;
    return Response.json(fileObject(file, kept));
  } catch (error) {
    // A provider that answered before it had the whole file must not be left waiting for the rest.
    abort.abort(error);
    await forgetRest(form ?? restOf(request), error);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    stop();
  }
}

/** What ends a request's work: also the client's going away, until `stop`. */
function abortWith({ signal }: Request): { abort: AbortController; stop: () => void } {
  const abort = new AbortController();
  const left = () =>
    abort.abort(new GatewayError(499, "the client went away", { code: "request_cancelled" }));
  if (signal.aborted) left();
  signal.addEventListener("abort", left, { once: true });
  return { abort, stop: () => signal.removeEventListener("abort", left) };
}

/**
 * Reads what a refused client still sends: one that is cut off never sees the answer. Not for ever, and not for one that
 * has stopped sending or is gone.
 */
async function forgetRest(rest: Rest, error: unknown): Promise<void> {
  if (error instanceof GatewayError && (error.status === 408 || error.status === 499)) {
    await rest.cancel().catch(() => undefined);
    return;
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([rest.drain().catch(() => undefined), enough]);
  clearTimeout(timer);
}

/** A body of which nothing has been read yet. */
function restOf(request: Request): Rest {
  const reader = request.body?.getReader();
  return {
    drain: async () => (reader === undefined ? undefined : drain(reader)),
    cancel: async () => reader?.cancel(),
  };
}

/** `GET /v1/files/{file_id}` (contract): asks the account that has the file. */
export const readFile: Handler = async (context) => {
  context.log.dialect = "files";
  const caller = await authenticateCaller(context);
  const id = context.params["file_id"] ?? "";
  const kept = await context.platform.files(caller.owner).get(id);
  // The provider knows a pass-through caller's files; of a managed account's it cannot tell whose they are.
  if (kept === null && caller.mode === "managed") throw fileNotFound(id);
  return Response.json(await currentObject(context, caller, id, kept));
};

async function currentObject(
  context: Context,
  caller: Caller,
  id: string,
  kept: KeptFile | null,
): Promise<Record<string, unknown>> {
  const { abort, stop } = abortWith(context.request);
  const { signal } = abort;
  const patience = new Patience(context.platform.settings.firstByteTimeoutMs, abort);
  const owner = { ...caller, targetAccount: kept?.account ?? null };
  let access: Access | undefined;
  try {
    access = await openAccess(context, owner, { model: "", dialect: "files", exclude: [], signal });
    patience.renew();
    const file = await readOnce(context, access, id, signal);
    if (kept !== null) return fileObject(file, kept);
    const { id: account } = await context.provider().describeAccount(access.account, signal);
    return fileObject(file, unremembered(file, account));
  } catch (error) {
    const gone =
      error instanceof ProviderError
        ? error.kind === "not_found"
        : error instanceof GatewayError && error.code === "target_account_not_found";
    if (gone) throw fileNotFound(id);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    patience.end();
    stop();
    access?.lease?.release();
  }
}

/** Reads a file's state; a token that has expired is renewed once. */
async function readOnce(
  context: Context,
  access: Access,
  id: string,
  signal: AbortSignal,
): Promise<ProviderFile> {
  const provider = context.provider();
  try {
    return await provider.readFile(access.account, id, signal);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
    const renewed = await access.refreshed(signal);
    if (renewed === null) throw error;
    return provider.readFile(renewed.account, id, signal);
  }
}

/** A pass-through caller's file that did not come through here, or has been forgotten. */
function unremembered(file: ProviderFile, account: string): KeptFile {
  const { id, filename, purpose, bytes, createdAt } = file;
  return { id, account, filename, mediaType: "", purpose, bytes, createdAt, expiresAt: 0 };
}

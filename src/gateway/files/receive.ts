import type { Caller } from "../../core/auth/callers.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import type { Awaitable } from "../../core/ports/awaitable.ts";
import type { Context } from "../../core/ports/context.ts";
import { readRequestedProvider, selectUploadProvider } from "./file-provider.ts";
import type { BodyLimits } from "./incoming-body.ts";
import { parseLifetime } from "./record-lifetime.ts";
import { discardUnreadBody, getUnreadBody, type UnreadBody } from "./unread-body.ts";
import { type IncomingFile, Upload, type UploadedFile } from "./upload.ts";

/** Upload body size, in bytes (docs/contract/errors.md, Limits). */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** Maximum memory of an upload: the fields of a form, the header of a part, and the bytes of a few reads. */
const UPLOAD_MEMORY_BYTES = 256 * 1024;

/** Returns the limits of a request that uploads a file. */
export function uploadLimits({ platform }: Pick<Context, "platform">): BodyLimits {
  return { bytes: MAX_UPLOAD_BYTES, idleMs: platform.variables.idleTimeoutMs };
}

/**
 * Streams a file from its caller to one of the provider's accounts, whole or not at all, and stores a record of it for the
 * caller.
 *
 * @param openBody Starts to read the request's body. If it throws, the request is rejected.
 * @param requestedProvider the provider that the caller names; default: as the request's header says
 * @throws GatewayError 501 if the provider does not store files, errors of the request, and errors of the provider.
 */
export async function receiveFile(
  context: Context,
  caller: Caller,
  style: string,
  openBody: (request: Request) => Awaitable<IncomingFile & UnreadBody>,
  requestedProvider = readRequestedProvider(context.request),
): Promise<UploadedFile> {
  context.facts.dialect = style;
  context.facts.operation = "files";
  return receiveAndForward(context, caller, style, openBody, requestedProvider);
}

/** Receives a file in a form (docs/contract/files.md, POST /v1/files). See {@link receiveFile}. */
export function receiveForm(context: Context, caller: Caller, style: string): Promise<UploadedFile> {
  const limits = uploadLimits(context);
  return receiveFile(context, caller, style, async (request) => {
    // Load the parser on demand: few isolates receive a form, and the parser needs large parts of Node.
    const { readFormFile } = await import("./form-file.ts");
    return readFormFile(request, limits, (fields) => void parseLifetime(fields));
  });
}

async function receiveAndForward(
  context: Context,
  caller: Caller,
  style: string,
  openBody: (request: Request) => Awaitable<IncomingFile & UnreadBody>,
  requestedProvider: string | undefined,
): Promise<UploadedFile> {
  const { request, memory: reservation } = context;
  const { abort, stop } = abortOnDisconnect(context);
  let incoming: (IncomingFile & UnreadBody) | undefined;
  try {
    if (!reservation.tryReserve(UPLOAD_MEMORY_BYTES)) await reservation.reserveWhenFree(UPLOAD_MEMORY_BYTES);
    const target = await selectUploadProvider(context, caller, requestedProvider);
    if (target.provider.id !== "") context.facts.provider = target.provider.id;
    incoming = await openBody(request);
    const uploaded = await new Upload(context, caller, style, target, incoming, abort).run();
    context.facts.account = uploaded.record.account;
    return uploaded;
  } catch (error) {
    // Abort: a provider that answered before it received the whole file would wait for the rest.
    abort.abort(error);
    await discardUnreadBody(incoming ?? getUnreadBody(request), error);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    stop();
  }
}

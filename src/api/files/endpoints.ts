import { Patience } from "../../accounts/patience.ts";
import { abortWith, withAccount } from "../../accounts/with-account.ts";
import type { Caller } from "../../auth/callers.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../errors/provider-error.ts";
import type { Context } from "../../platform/context.ts";
import type { KeptFile } from "../../platform/files.ts";
import { providerOf } from "../../provider/of-platform.ts";
import type { FileKeeping, ProviderFile } from "../../provider/provider.ts";
import { type CallerEndpoint, forCallers, json } from "../../routing/endpoint.ts";
import { lifetimeOf } from "./expiry.ts";
import { FORM_BYTES, UploadForm } from "./form.ts";
import { fileObject, fileSchema } from "./object.ts";
import { forgetRest, restOf } from "./refused-body.ts";
import { Upload } from "./upload.ts";

/** Contract, Limits: upload body size, in bytes. */
const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** What an upload's form has. */
const FORM_SCHEMA = {
  type: "object",
  properties: {
    file: { type: "string", contentMediaType: "application/octet-stream" },
    purpose: { type: "string" },
    "expires_after[anchor]": { const: "created_at" },
    "expires_after[seconds]": { type: "integer" },
  },
  required: ["file"],
};

/** The 404 of a file that is not there, is not there any more, or is another caller's. */
function fileNotFound(id: string): GatewayError {
  return new GatewayError(404, `there is no file with id ${JSON.stringify(id)}`, {
    code: "file_not_found",
    param: "file_id",
  });
}

/** The deployment's files. Throws 501 where its provider keeps none. */
function filesOf(context: Context): FileKeeping {
  const { files } = providerOf(context.platform);
  if (files !== undefined) return files;
  throw new GatewayError(501, "this provider keeps no files: send them within the request", {
    code: "unsupported",
  });
}

/** `POST /v1/files` (contract). */
export const uploadFile: CallerEndpoint = forCallers({
  method: "POST",
  path: ["/v1/files", "/files"],
  summary: "Upload a file",
  streamedBody: { mediaType: "multipart/form-data", schema: FORM_SCHEMA },
  answers: json(fileSchema),
  handler: (context, { caller }) => {
    context.log.dialect = "files";
    const work = receive(context, caller);
    // Only work under `waitUntil` goes on to its `finally` when the client leaves.
    context.waitUntil(work.catch(() => undefined));
    return work;
  },
  refused: (context, error) => forgetRest(restOf(context.request), error),
});

async function receive(context: Context, caller: Caller): Promise<Response> {
  const { request, platform, hold } = context;
  const { abort, stop } = abortWith(request);
  let form: UploadForm | undefined;
  try {
    if (!hold.take(FORM_BYTES)) await hold.wait(FORM_BYTES);
    const files = filesOf(context);
    const limits = { bytes: MAX_UPLOAD_BYTES, idleMs: platform.variables.idleTimeoutMs };
    form = new UploadForm(request, limits, ({ fields }) => void lifetimeOf(fields));
    const { file, kept } = await new Upload(context, caller, files, form, abort).run();
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

/** `GET /v1/files/{file_id}` (contract): asks the account that has the file. */
export const readFile: CallerEndpoint = forCallers({
  method: "GET",
  path: ["/v1/files/:file_id", "/files/:file_id"],
  summary: "Read a file's status",
  answers: json(fileSchema),
  handler: async (context, { caller, params }) => {
    context.log.dialect = "files";
    const id = params["file_id"] ?? "";
    const kept = await context.platform.files(caller.owner).get(id);
    // The provider knows a pass-through caller's files; of a managed account's it cannot tell whose they are.
    if (kept === null && caller.mode === "managed") throw fileNotFound(id);
    return Response.json(await currentObject(context, caller, id, kept));
  },
});

async function currentObject(
  context: Context,
  caller: Caller,
  id: string,
  kept: KeptFile | null,
): Promise<Record<string, unknown>> {
  const files = filesOf(context);
  const provider = providerOf(context.platform);
  const { abort, stop } = abortWith(context.request);
  const patience = new Patience(context.platform.variables.firstByteTimeoutMs, abort.signal);
  const { signal } = patience;
  const owner = { ...caller, targetAccount: kept?.account ?? null };
  try {
    return await withAccount(
      { context, caller: owner, model: "", dialect: "files", abort },
      async (session) => {
        patience.renew();
        const file = await session.call((account) => files.read(account, id, signal));
        if (kept !== null) return fileObject(file, kept);
        const { id: account } = await provider.describeAccount(session.account, signal);
        return fileObject(file, unremembered(file, account));
      },
    );
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
  }
}

/** A pass-through caller's file that did not come through here, or has been forgotten. */
function unremembered(file: ProviderFile, account: string): KeptFile {
  const { id, filename, purpose, bytes, createdAt } = file;
  return { id, account, filename, mediaType: "", purpose, bytes, createdAt, expiresAt: 0 };
}

import { hasUpstreamName, type ResolvedModel } from "../../../core/conversation/model.ts";
import type { UpstreamErrorResponse } from "../errors/error-response.ts";
import { send } from "../transport.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { Passthrough } from "./passthrough.ts";
import { createEndpointError, missingEndpointError } from "./passthrough-error.ts";

/**
 * Creates the endpoints that need no translation, of a backend with a bearer token.
 *
 * @param address the base address
 * @param modelName returns the configured name of a model at the backend, else the id itself
 * @param readError reads the error of a refused request
 * @param withoutDropParams removes the members that the configuration leaves out
 */
export function createBearerPassthrough(
  address: string,
  getHeaders: (account: UpstreamAccount) => Readonly<Record<string, string>>,
  modelName: (id: string) => string,
  readError: (
    response: Response,
    account: UpstreamAccount,
    signal: AbortSignal,
  ) => Promise<UpstreamErrorResponse>,
  withoutDropParams: (text: string) => string,
): Passthrough {
  /** Backends have models for these endpoints that no canonical id covers: the requested name is the default. */
  const nameModel = (model: ResolvedModel): string => {
    const { id, upstream, requested } = model;
    if (hasUpstreamName(model)) return upstream;
    const named = modelName(requested);
    const mapped = modelName(id);
    return named === requested && mapped !== id ? mapped : named;
  };
  return {
    send: async (account, request, signal) => {
      const { path, model, headers, createBody, method = "POST" } = request;
      const named = createBody(model === null ? "" : nameModel(model));
      const body = typeof named === "string" ? withoutDropParams(named) : named;
      const init = {
        method,
        headers: { ...headers, ...getHeaders(account) },
        body,
      };
      const response = await send(account.fetch, address + path, init, signal);
      if (response.ok) return response;
      const { error } = await readError(response, account, signal);
      throw request.isStoredObject === true ? error : createEndpointError(error, path);
    },
    openSocket: async (account, { path, model: resolved, headers }, query, signal) => {
      const { openSocket } = account;
      if (openSocket === undefined) throw missingEndpointError(path);
      const model = resolved === null ? "" : nameModel(resolved);
      const parameters = new URLSearchParams(model === "" ? query : [["model", model], ...query]);
      const url = `${address}${path}?${parameters}`;
      const opened = await openSocket(url, { ...headers, ...getHeaders(account) }, signal);
      if (!(opened instanceof Response)) return { socket: opened, model };
      throw createEndpointError((await readError(opened, account, signal)).error, path);
    },
  };
}

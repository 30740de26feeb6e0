import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** An outbound proxy without its password. */
export type ProxyView = AnswerOf<"GET /admin/proxies">["items"][number];
/** Fields of a proxy. An empty password keeps the stored one. */
export type ProxyInput = BodyOf<"POST /admin/proxies">;
/** Result of a proxy test. */
export type ProxyTest = Pick<AnswerOf<"POST /admin/proxies/test">, "success" | "latency_ms" | "message">;

export async function listProxies(signal?: AbortSignal): Promise<ProxyView[]> {
  return (await callApi("GET /admin/proxies", { signal })).items;
}

export const addProxy = (body: ProxyInput) => callApi("POST /admin/proxies", { body });

/** Reads one proxy. */
export const readProxy = (proxyID: string) =>
  callVersioned("GET /admin/proxies/:proxyID", { params: { proxyID } });

export const changeProxy = (proxyID: string, body: ProxyInput, ifMatch: string | undefined) =>
  callApi("PUT /admin/proxies/:proxyID", { params: { proxyID }, body, ifMatch });

export const deleteProxy = (proxyID: string) =>
  sendUndoable("DELETE /admin/proxies/:proxyID", { params: { proxyID } });

export const testSavedProxy = (proxy_id: string) =>
  callApi("POST /admin/proxies/test", { body: { proxy_id } });

export const testProxy = (body: ProxyInput) => callApi("POST /admin/proxies/test", { body });

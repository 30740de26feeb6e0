import * as z from "zod/mini";
import { callApi, callVersioned } from "./client.ts";
import { booleanField, numberField, textField } from "./fields.ts";
import { sendUndoable } from "./undo.ts";

const proxy = z.object({
  id: z.string(),
  name: textField,
  type: textField,
  host: textField,
  port: numberField,
  username: textField,
  has_password: booleanField,
});

/** An outbound proxy without its password. */
export type ProxyView = z.output<typeof proxy>;

const list = z.object({ items: z.array(proxy) });

/** Fields of a proxy. An empty password keeps the stored one. */
export interface ProxyInput {
  readonly name: string;
  readonly type: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
}

const testResult = z.object({ success: booleanField, latency_ms: numberField, message: textField });

/** Result of a proxy test. */
export type ProxyTest = z.output<typeof testResult>;

export async function listProxies(signal?: AbortSignal): Promise<ProxyView[]> {
  return (await callApi(list, "/admin/proxies", signal === undefined ? {} : { signal })).items;
}

const path = (id: string) => `/admin/proxies/${encodeURIComponent(id)}`;

export const addProxy = (body: ProxyInput) => callApi(proxy, "/admin/proxies", { method: "POST", body });

/** Reads one proxy. */
export const readProxy = (id: string) => callVersioned(proxy, path(id));

export const changeProxy = (id: string, body: ProxyInput, ifMatch: string | undefined) =>
  callApi(proxy, path(id), { method: "PUT", body, ifMatch });

export const deleteProxy = (id: string) => sendUndoable(path(id), { method: "DELETE" });

export const testSavedProxy = (proxy_id: string) =>
  callApi(testResult, "/admin/proxies/test", { method: "POST", body: { proxy_id } });

export const testProxy = (body: ProxyInput) =>
  callApi(testResult, "/admin/proxies/test", { method: "POST", body });

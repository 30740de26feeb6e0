import * as z from "zod/mini";
import { call } from "./client.ts";
import { flag, number, text } from "./fields.ts";
import { undoable } from "./undo.ts";

const proxy = z.object({
  id: z.string(),
  name: text,
  type: text,
  host: text,
  port: number,
  username: text,
  has_password: flag,
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

const testResult = z.object({ success: flag, latency_ms: number, message: text });

/** Result of a proxy test. */
export type ProxyTest = z.output<typeof testResult>;

export async function listProxies(signal?: AbortSignal): Promise<ProxyView[]> {
  return (await call(list, "/admin/proxies", signal === undefined ? {} : { signal })).items;
}

const path = (id: string) => `/admin/proxies/${encodeURIComponent(id)}`;

export const addProxy = (body: ProxyInput) => call(proxy, "/admin/proxies", { method: "POST", body });

export const changeProxy = (id: string, body: ProxyInput) => call(proxy, path(id), { method: "PUT", body });

export const deleteProxy = (id: string) => undoable(path(id), { method: "DELETE" });

export const testSavedProxy = (proxy_id: string) =>
  call(testResult, "/admin/proxies/test", { method: "POST", body: { proxy_id } });

export const testProxy = (body: ProxyInput) =>
  call(testResult, "/admin/proxies/test", { method: "POST", body });

import * as z from "zod";
import { type Proxy as ConfiguredProxy, proxySchema } from "../config/schema.ts";
import { readBody } from "../http/json-body.ts";
import type { Handler } from "../platform/context.ts";
import { proxyView } from "./config-view.ts";
import { duplicate, edit, missing } from "./edit.ts";

const { shape } = proxySchema;

/** `POST /admin/proxies` (contract, Proxies). */
export const newProxySchema = proxySchema.extend({ id: z.string().trim().default("") });

/** `PUT /admin/proxies/{proxyID}`. What is left out stays, and an empty password keeps the old one. */
export const proxyChangeSchema = z.object({
  name: z.string().optional(),
  type: shape.type.optional(),
  host: shape.host.optional(),
  port: shape.port.optional(),
  username: z.string().optional(),
  password: z.string().optional(),
});

const noProxy = (id: string) => missing(`the proxy ${JSON.stringify(id)}`);

/** `GET /admin/proxies` (contract). */
export const listProxies: Handler = async (context) => {
  const { config } = await context.platform.configuration.readFresh();
  return Response.json({ items: config.proxies.map(proxyView), total: config.proxies.length });
};

/** `POST /admin/proxies` (contract): answers the proxy. */
export const addProxy: Handler = async (context) => {
  const body = await readBody(context.request, newProxySchema);
  const id = body.id || `proxy_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const proxy: ConfiguredProxy = { ...body, id };
  await edit(context, (config) => {
    if (config.proxies.some((other) => other.id === id)) throw duplicate("a proxy with this id", "id");
    return { ...config, proxies: [...config.proxies, proxy] };
  });
  return Response.json(proxyView(proxy));
};

/** `PUT /admin/proxies/{proxyID}` (contract): answers the proxy. */
export const changeProxy: Handler = async (context) => {
  const id = context.params["proxyID"] ?? "";
  const body = await readBody(context.request, proxyChangeSchema);
  const { config } = await edit(context, (current) => {
    if (!current.proxies.some((proxy) => proxy.id === id)) throw noProxy(id);
    return {
      ...current,
      proxies: current.proxies.map((proxy) =>
        proxy.id !== id
          ? proxy
          : {
              id,
              name: body.name ?? proxy.name,
              type: body.type ?? proxy.type,
              host: body.host ?? proxy.host,
              port: body.port ?? proxy.port,
              username: body.username ?? proxy.username,
              password: body.password || proxy.password,
            },
      ),
    };
  });
  const changed = config.proxies.find((proxy) => proxy.id === id);
  if (changed === undefined) throw noProxy(id);
  return Response.json(proxyView(changed));
};

/** `DELETE /admin/proxies/{proxyID}` (contract): no account stays bound to it. */
export const deleteProxy: Handler = async (context) => {
  const id = context.params["proxyID"] ?? "";
  let unbound = 0;
  const { config } = await edit(context, (current) => {
    if (!current.proxies.some((proxy) => proxy.id === id)) throw noProxy(id);
    unbound = current.accounts.filter(({ proxy_id }) => proxy_id === id).length;
    return {
      ...current,
      proxies: current.proxies.filter((proxy) => proxy.id !== id),
      accounts: current.accounts.map((account) =>
        account.proxy_id === id ? { ...account, proxy_id: "" } : account,
      ),
    };
  });
  return Response.json({
    success: true,
    unbound_accounts: unbound,
    total_proxies: config.proxies.length,
  });
};

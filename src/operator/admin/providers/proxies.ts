import * as z from "zod";
import { ENTRY_ID_RULE, entryIdSchema } from "../../../core/config/entry-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import { type Proxy as ConfiguredProxy, proxySchema } from "../../../core/config/schemas/proxy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { addEntry, changeEntry, deleteEntry, type EntryList } from "../editing/entry-list.ts";
import { ENTRY_HEADERS, entryResponse, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { idTakenError, requireFound } from "../resource-errors.ts";

/** A proxy as administrators see it (docs/contract/accounts.md, Proxies). The response never contains the password. */
export const proxyViewSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    type: z.enum(["http", "socks5"]),
    host: z.string(),
    port: z.int(),
    username: z.string(),
    has_password: z.boolean(),
  });
export type ProxyView = z.output<ReturnType<typeof proxyViewSchema>>;

/** Body of `POST /admin/proxies` (docs/contract/accounts.md, Proxies). */
const newProxySchema = requestObject(
  () => ({ ...proxySchema.shape, id: z.union([z.literal(""), entryIdSchema()], ENTRY_ID_RULE).default("") }),
  proxyViewSchema,
);

/** Body of `PUT /admin/proxies/{proxyID}`. Omitted fields keep their values, and so does an empty password. */
const proxyChangeSchema = requestObject(
  () => ({
    name: z.string().optional(),
    type: proxySchema.shape.type.optional(),
    host: proxySchema.shape.host.optional(),
    port: proxySchema.shape.port.optional(),
    username: z.string().optional(),
    password: z.string().optional(),
  }),
  proxyViewSchema,
);

/** The view of a proxy. */
export function proxyView({ password, ...proxy }: ConfiguredProxy): ProxyView {
  return { ...proxy, has_password: password !== "" };
}

/** Returns a saved proxy. Throws 404 for an unknown id. */
export function getSavedProxy(proxies: readonly ConfiguredProxy[], id: string): ConfiguredProxy {
  return requireFound(
    proxies.find((proxy) => proxy.id === id),
    "the proxy",
    id,
  );
}

const PROXIES: EntryList<ConfiguredProxy> = {
  read: ({ proxies }) => proxies,
  write: (config, proxies) => ({ ...config, proxies }),
  getId: ({ id }) => id,
  find: ({ proxies }, id) => getSavedProxy(proxies, id),
  createConflict: (id) => idTakenError("a proxy", id),
};

/** Applies an administrator's changes to a proxy. */
function applyProxyChange(proxy: ConfiguredProxy, body: z.output<typeof proxyChangeSchema>): ConfiguredProxy {
  return {
    id: proxy.id,
    name: body.name ?? proxy.name,
    type: body.type ?? proxy.type,
    host: body.host ?? proxy.host,
    port: body.port ?? proxy.port,
    username: body.username ?? proxy.username,
    password: body.password || proxy.password,
  };
}

/** Endpoints that list proxies and add one. */
export const PROXY_LIST_ENDPOINTS = [
  /** `GET /admin/proxies` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "GET",
    path: "/admin/proxies",
    summary: "List the proxies",
    answers: jsonResponse(() => z.object({ items: z.array(proxyViewSchema()), total: z.int() })),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      return Response.json({ items: config.proxies.map(proxyView), total: config.proxies.length });
    },
  }),
  /** `POST /admin/proxies` (docs/contract/admin-entries.md): responds with the proxy. */
  adminEndpoint({
    method: "POST",
    path: "/admin/proxies",
    summary: "Add a proxy",
    body: newProxySchema,
    answers: jsonResponse(proxyViewSchema),
    handler: async (context, { body }) => {
      const id = body.id || `proxy_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
      const proxy: ConfiguredProxy = { ...body, id };
      await addEntry(context, PROXIES, proxy);
      return Response.json(proxyView(proxy));
    },
  }),
] satisfies readonly Endpoint[];

/** The response with a proxy and its entity tag. */
function proxyResponse(config: Config, id: string): Promise<Response> {
  const proxy = getSavedProxy(config.proxies, id);
  return entryResponse(config, proxy, proxyView(proxy));
}

/** Endpoints that read, change or delete one proxy. */
export const PROXY_ENDPOINTS = [
  /** `GET /admin/proxies/{proxyID}`: one proxy, with the entity tag for its edits. */
  adminEndpoint({
    method: "GET",
    path: "/admin/proxies/:proxyID",
    summary: "Read a proxy",
    answers: jsonResponse(proxyViewSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }, { params: { proxyID: id = "" } }) =>
      proxyResponse((await platform.configuration.readFresh()).config, id),
  }),
  /** `PUT /admin/proxies/{proxyID}` (docs/contract/admin-entries.md): responds with the proxy. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/proxies/:proxyID",
    summary: "Change a proxy",
    body: proxyChangeSchema,
    answers: jsonResponse(proxyViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { proxyID: id = "" }, body }) => {
      const config = await changeEntry(context, PROXIES, id, (proxy) => applyProxyChange(proxy, body));
      return proxyResponse(config, id);
    },
  }),
  /** `DELETE /admin/proxies/{proxyID}` (docs/contract/admin-entries.md): unbinds all accounts and providers from it. */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/proxies/:proxyID",
    summary: "Delete a proxy",
    answers: jsonResponse(() =>
      successSchema().extend({ unbound_accounts: z.int(), total_proxies: z.int() }),
    ),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { proxyID: id = "" } }) => {
      let unbound = 0;
      const unbind = (current: Config): Config => {
        unbound = current.accounts.filter(({ proxy_id }) => proxy_id === id).length;
        return {
          ...current,
          accounts: current.accounts.map((account) =>
            account.proxy_id === id ? { ...account, proxy_id: "" } : account,
          ),
          providers: current.providers.map((provider) =>
            provider.proxy_id === id ? { ...provider, proxy_id: "" } : provider,
          ),
        };
      };
      const { total, headers } = await deleteEntry(context, PROXIES, id, unbind);
      return Response.json({ success: true, unbound_accounts: unbound, total_proxies: total }, { headers });
    },
  }),
] satisfies readonly Endpoint[];

import * as z from "zod";
import { hashPassword } from "../../../core/auth/password.ts";
import { ROLES } from "../../../core/config/roles.ts";
import type { Config } from "../../../core/config/schema.ts";
import {
  type Administrator,
  administratorSchema,
} from "../../../core/config/schemas/administrator-schema.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { addEntry, changeEntry, deleteEntry, type EntryList } from "../editing/entry-list.ts";
import { ENTRY_HEADERS, entryResponse, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { idTakenError, requireFound } from "../resource-errors.ts";

/** An administrator as other administrators see him or her. */
const administratorViewSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    email: z.string(),
    oidc_subject: z.string(),
    has_password: z.boolean(),
    disabled: z.boolean(),
  });

const passwordSchema = () =>
  z.string().min(8, "must have at least 8 characters").max(1024, "must have at most 1024 characters");

/** Body of `POST /admin/administrators`. */
const newAdministratorSchema = requestObject(
  () => ({
    id: administratorSchema.shape.id,
    name: z.string().default(""),
    role: z.enum(ROLES),
    password: passwordSchema().optional(),
    email: administratorSchema.shape.email,
    oidc_subject: administratorSchema.shape.oidc_subject,
    disabled: z.boolean().default(false),
  }),
  administratorViewSchema,
);

/** Body of `PUT /admin/administrators/{id}`. Omitted fields keep their values; a null password removes it. */
const administratorChangeSchema = requestObject(
  () => ({
    name: z.string().optional(),
    role: z.enum(ROLES).optional(),
    password: passwordSchema().nullable().optional(),
    email: administratorSchema.shape.email.unwrap().optional(),
    oidc_subject: administratorSchema.shape.oidc_subject.unwrap().optional(),
    disabled: z.boolean().optional(),
  }),
  administratorViewSchema,
);

function administratorView({ id, name, role, email, oidc_subject, password_hash, disabled }: Administrator) {
  return { id, name, role, email, oidc_subject, has_password: password_hash !== "", disabled };
}

/** A new part of tokens: those that were issued before are no longer valid. */
export const createEpoch = (): string => crypto.randomUUID();

/**
 * Rejects an edit that would leave no administrator who can manage administrators.
 *
 * @throws GatewayError 409
 */
export function assertOwnerLeft({ platform }: Context, before: Config, after: Config): Config {
  const isOwner = ({ role, disabled }: Administrator) => role === "owner" && !disabled;
  const hasKey = platform.variables.adminKey !== null || after.admin.password_hash !== "";
  if (hasKey || after.administrators.some(isOwner) || !before.administrators.some(isOwner)) return after;
  throw new GatewayError(409, "no owner would be left: make another administrator an owner first", {
    code: "invalid_request",
  });
}

const ADMINISTRATORS: EntryList<Administrator> = {
  read: ({ administrators }) => administrators,
  write: (config, administrators) => ({ ...config, administrators }),
  getId: ({ id }) => id,
  find: ({ administrators }, id) =>
    requireFound(
      administrators.find((entry) => entry.id === id),
      "the administrator",
      id,
    ),
  createConflict: (id) => idTakenError("an administrator", id),
  assertAllowed: assertOwnerLeft,
};

function respond(config: Config, id: string): Promise<Response> {
  const entry = ADMINISTRATORS.find(config, id);
  return entryResponse(config, entry, administratorView(entry));
}

export const ADMINISTRATOR_ENDPOINTS = [
  adminEndpoint({
    method: "GET",
    path: "/admin/administrators",
    role: "owner",
    summary: "List the administrators",
    answers: jsonResponse(() => z.object({ items: z.array(administratorViewSchema()), total: z.int() })),
    handler: async ({ platform }) => {
      const { administrators } = (await platform.configuration.readFresh()).config;
      return Response.json({ items: administrators.map(administratorView), total: administrators.length });
    },
  }),
  adminEndpoint({
    method: "POST",
    path: "/admin/administrators",
    role: "owner",
    summary: "Add an administrator",
    body: newAdministratorSchema,
    answers: jsonResponse(administratorViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context, { body }) => {
      const { id, name, role, password, email, oidc_subject, disabled } = body;
      const added: Administrator = {
        id,
        name,
        role,
        email,
        oidc_subject,
        disabled,
        password_hash: password === undefined ? "" : await hashPassword(password),
        session_epoch: createEpoch(),
      };
      return respond(await addEntry(context, ADMINISTRATORS, added), id);
    },
  }),
  adminEndpoint({
    method: "GET",
    path: "/admin/administrators/:id",
    role: "owner",
    summary: "Read an administrator",
    answers: jsonResponse(administratorViewSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }, { params: { id = "" } }) =>
      respond((await platform.configuration.readFresh()).config, id),
  }),
  /** Another role, another password or identity, and `disabled` end the administrator's tokens. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/administrators/:id",
    role: "owner",
    summary: "Change an administrator",
    body: administratorChangeSchema,
    answers: jsonResponse(administratorViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { id = "" }, body }) => {
      const { password } = body;
      const hash = typeof password === "string" ? await hashPassword(password) : "";
      const change = (stored: Administrator): Administrator => {
        const changed: Administrator = {
          ...stored,
          name: body.name ?? stored.name,
          role: body.role ?? stored.role,
          email: body.email ?? stored.email,
          oidc_subject: body.oidc_subject ?? stored.oidc_subject,
          disabled: body.disabled ?? stored.disabled,
          password_hash: password === undefined ? stored.password_hash : hash,
        };
        const endsTokens =
          changed.role !== stored.role ||
          changed.disabled !== stored.disabled ||
          changed.email !== stored.email ||
          changed.oidc_subject !== stored.oidc_subject ||
          changed.password_hash !== stored.password_hash;
        return endsTokens ? { ...changed, session_epoch: createEpoch() } : changed;
      };
      return respond(await changeEntry(context, ADMINISTRATORS, id, change), id);
    },
  }),
  adminEndpoint({
    method: "DELETE",
    path: "/admin/administrators/:id",
    role: "owner",
    summary: "Delete an administrator",
    answers: jsonResponse(() => successSchema().extend({ total: z.int() })),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { id = "" } }) => {
      const { total, headers } = await deleteEntry(context, ADMINISTRATORS, id);
      return Response.json({ success: true, total }, { headers });
    },
  }),
] satisfies readonly Endpoint[];

import * as z from "zod";
import { listApiKeys } from "../../../core/config/api-keys.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { SubjectEntry } from "../../../core/config/schemas/subject-schema.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { formatSubject, type SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { addEntry, changeEntry, deleteEntry, type EntryList } from "../editing/entry-list.ts";
import { ENTRY_HEADERS, entryResponse, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { countUnpricedModels } from "../models/unpriced-models.ts";
import { idTakenError, requireFound } from "../resource-errors.ts";
import { readLimitUse, usedView } from "./limit-use.ts";
import {
  newSubjectSchema,
  type SubjectView,
  subjectChangeSchema,
  subjectViewSchema,
} from "./subject-fields.ts";

/** A list of the configuration whose entries have limits for many requests. */
interface SubjectList {
  readonly kind: "team" | "user" | "tag";
  /** Name of the list in the configuration and in paths. */
  readonly list: "teams" | "users" | "tags";
}

/** The number of keys of a team or user. */
function countKeys(config: Config, { kind }: SubjectList, id: string): number {
  return kind === "tag" ? 0 : listApiKeys(config).filter((key) => key[kind] === id).length;
}

/** Rejects a list of allowed tags of a tag, because it would have no effect. */
function rejectUselessTags(
  { kind }: SubjectList,
  { allowed_tags = [] }: Pick<SubjectEntry, "allowed_tags">,
): void {
  if (kind === "tag" && allowed_tags.length > 0)
    throw invalidRequest("allowed_tags: only keys, teams and users have allowed tags", "allowed_tags");
}

/** Without empty limits and lists, which mean the same as none. */
function normalizeEntry({
  limits,
  models,
  guardrails,
  history,
  allowed_tags,
  ...rest
}: SubjectEntry): SubjectEntry {
  return {
    ...rest,
    ...(limits === undefined || Object.keys(limits).length === 0 ? {} : { limits }),
    ...(models === undefined || models.length === 0 ? {} : { models }),
    ...(guardrails === undefined || guardrails.length === 0 ? {} : { guardrails }),
    ...(history === undefined || history === "full" ? {} : { history }),
    ...(allowed_tags === undefined || allowed_tags.length === 0 ? {} : { allowed_tags }),
  };
}

function subjectView(
  platform: Platform,
  config: Config,
  subject: SubjectList,
  entry: SubjectEntry,
  uses: ReadonlyMap<string, SubjectUsage>,
): SubjectView {
  const { id, name, remark, limits = {}, models = [] } = entry;
  const { guardrails = [], history = "full", allowed_tags = [] } = entry;
  return {
    id,
    name,
    remark,
    limits,
    models,
    guardrails,
    history,
    allowed_tags,
    keys: countKeys(config, subject, id),
    used: usedView(uses.get(formatSubject(subject.kind, id))),
    unpriced_models: countUnpricedModels(config, entry, platform),
  };
}

function createEndpoints(subject: SubjectList) {
  const { kind, list } = subject;
  const subjects: EntryList<SubjectEntry> = {
    read: (config) => config[list],
    write: (config, entries) => ({ ...config, [list]: entries }),
    getId: ({ id }) => id,
    find: (config, id) =>
      requireFound(
        config[list].find((entry) => entry.id === id),
        `the ${kind}`,
        id,
      ),
    createConflict: (id) => idTakenError(`a ${kind}`, id),
  };
  const respond = async ({ platform }: Context, config: Config, id: string): Promise<Response> => {
    const entry = subjects.find(config, id);
    const uses = await readLimitUse(platform, [entry], formatSubject(kind, id));
    return entryResponse(config, entry, subjectView(platform, config, subject, entry, uses));
  };
  return [
    adminEndpoint({
      method: "GET",
      path: `/admin/${list}`,
      summary: `List the ${list}`,
      answers: jsonResponse(() => z.object({ items: z.array(subjectViewSchema()), total: z.int() })),
      handler: async ({ platform }) => {
        const { config } = await platform.configuration.readFresh();
        const uses = await readLimitUse(platform, config[list]);
        const items = config[list].map((entry) => subjectView(platform, config, subject, entry, uses));
        return Response.json({ items, total: items.length });
      },
    }),
    adminEndpoint({
      method: "POST",
      path: `/admin/${list}`,
      summary: `Add a ${kind}`,
      body: newSubjectSchema,
      answers: jsonResponse(subjectViewSchema),
      ...ENTRY_HEADERS,
      handler: async (context, { body }) => {
        rejectUselessTags(subject, body);
        const { id, name, remark, limits, models, guardrails, history, allowed_tags } = body;
        const added = normalizeEntry({ id, name, remark, limits, models, guardrails, history, allowed_tags });
        return respond(context, await addEntry(context, subjects, added), id);
      },
    }),
    adminEndpoint({
      method: "GET",
      path: `/admin/${list}/:id`,
      summary: `Read a ${kind}`,
      answers: jsonResponse(subjectViewSchema),
      ...ENTRY_HEADERS,
      handler: async (context, { params: { id = "" } }) =>
        respond(context, (await context.platform.configuration.readFresh()).config, id),
    }),
    adminEndpoint({
      method: "PUT",
      path: `/admin/${list}/:id`,
      summary: `Change a ${kind}`,
      body: subjectChangeSchema,
      answers: jsonResponse(subjectViewSchema),
      ...ENTRY_HEADERS,
      ...IF_MATCH,
      handler: async (context, { params: { id = "" }, body }) => {
        rejectUselessTags(subject, body);
        const change = (stored: SubjectEntry) =>
          normalizeEntry({
            ...stored,
            name: body.name ?? stored.name,
            remark: body.remark ?? stored.remark,
            limits: body.limits ?? stored.limits,
            models: body.models ?? stored.models,
            guardrails: body.guardrails ?? stored.guardrails,
            history: body.history ?? stored.history,
            allowed_tags: body.allowed_tags ?? stored.allowed_tags,
          });
        return respond(context, await changeEntry(context, subjects, id, change), id);
      },
    }),
    /** Keys would lose their limits with their team or user, so one that has keys cannot be deleted. */
    adminEndpoint({
      method: "DELETE",
      path: `/admin/${list}/:id`,
      summary: `Delete a ${kind}`,
      answers: jsonResponse(() => successSchema().extend({ total: z.int() })),
      ...VERSION_HEADERS,
      requestHeaders: IF_MATCH.requestHeaders,
      statuses: { ...IF_MATCH.statuses, 409: `Keys belong to the ${kind}.` },
      handler: async (context, { params: { id = "" } }) => {
        const assertNoKeys = (current: Config): Config => {
          const keys = countKeys(current, subject, id);
          if (keys > 0) {
            const message = `${keys} ${keys === 1 ? "key belongs" : "keys belong"} to the ${kind} ${JSON.stringify(id)}: move or delete them first`;
            throw new GatewayError(409, message, { code: "invalid_request" });
          }
          return current;
        };
        const { total, headers } = await deleteEntry(context, subjects, id, assertNoKeys);
        return Response.json({ success: true, total }, { headers });
      },
    }),
  ];
}

/** `/admin/teams`, `/admin/users` and `/admin/tags`: list, add, read, change and delete, all alike. */
export const SUBJECT_ENDPOINTS = [
  ...createEndpoints({ kind: "team", list: "teams" }),
  ...createEndpoints({ kind: "user", list: "users" }),
  ...createEndpoints({ kind: "tag", list: "tags" }),
] satisfies readonly Endpoint[];

import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { findAmbiguousMember, getMemberText } from "../../../core/encoding/json-splice.ts";
import { oncePer } from "../../../core/encoding/once.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { JsonBody } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { createHeaderTest, type NativeJob, type NativeStyle } from "../../generation/native/native-style.ts";
import { findSessionId } from "../../generation/preparation/conversation-key.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { findDefaultProviderApi, findProviderApi } from "../../providers/provider-registry.ts";

/** An API style whose requests can go to providers of the same protocol as they are. */
export interface NativeDialect extends NativeStyle {
  /** The id of the style. */
  readonly id: string;
  /** Request headers that go to the provider: full names, or prefixes that end with a hyphen. */
  readonly requestHeaders: readonly string[];
  /** Other names of request headers: name here → name of the protocol. */
  readonly headerAliases?: Readonly<Record<string, string>>;
  /** Query parameters that go to the provider. */
  readonly queryParameters?: readonly string[];
  /** Changes the body where the contract states a default or where the gateway counts tokens. */
  adapt?(text: string, stream: boolean): { readonly text: string; readonly hidesUsageEvent?: boolean };
  /** Lists the ids of what may live at one account: containers, caches, conversations. Absent: the style has none. */
  listAccountStates?(body: JsonObject): readonly unknown[];
}

/** Headers of every style: the client and its version, its own id of the request, its app as OpenRouter reads it, and its session. */
const COMMON_HEADERS = [
  ...["accept", "user-agent", "x-client-request-id", "x-stainless-"],
  ...["http-referer", "x-title", "x-openrouter-"],
  ...["session_id", "session-id", "x-session-id", "x-session-affinity", "thread_id", "thread-id"],
];

/** Headers that name an account or its organization. The account that answers has its own. */
const ACCOUNT_HEADERS = /organization|workspace|project|account-id/;

const getRequestHeaderTest = oncePer((requestHeaders: readonly string[]) =>
  createHeaderTest([...COMMON_HEADERS, ...requestHeaders]),
);

/** Returns the caller's headers that go to the provider. */
export function selectRequestHeaders(
  { headers }: Request,
  { requestHeaders, headerAliases = {} }: Pick<NativeDialect, "requestHeaders" | "headerAliases">,
): Record<string, string> {
  const isKnown = getRequestHeaderTest(requestHeaders);
  const selected: Record<string, string> = {};
  headers.forEach((value, name) => {
    // Headers can have the names of inherited members, such as `constructor`.
    const known = Object.hasOwn(headerAliases, name) ? (headerAliases[name] ?? name) : name;
    if (isKnown(known) && !ACCOUNT_HEADERS.test(known)) selected[known] = value;
  });
  return selected;
}

function selectQuery(url: URL, { queryParameters = [] }: NativeDialect): string {
  // `searchParams` would parse the query.
  if (queryParameters.length === 0 || url.search === "") return "";
  const selected = new URLSearchParams();
  for (const name of queryParameters) {
    const value = url.searchParams.get(name);
    if (value !== null) selected.set(name, value);
  }
  return selected.toString();
}

/** Whether one of the models that a name leads to is at a provider that speaks the caller's protocol. */
async function hasNativeProvider(context: Context, dialect: string, requested: string): Promise<boolean> {
  const { config } = await context.config();
  const hasNativeDefault = findDefaultProviderApi(context.platform)?.native?.speaks(dialect) === true;
  // Most deployments of the default driver: the name is resolved once, by the translation.
  if (!hasNativeDefault && config.providers.length === 0) return false;
  let model: ResolvedModel;
  try {
    model = resolveModel(requested, config);
  } catch {
    // The translation reports an unknown model.
    return false;
  }
  const models = model.route?.map((target) => target.model) ?? [model];
  return models.some(
    ({ provider }) => findProviderApi(context.platform, config, provider)?.native?.speaks(dialect) === true,
  );
}

/** An id of a file that the gateway keeps for a caller. It means nothing to the provider. */
const OWN_FILE = /["/]file-[\da-f]{32}"/;

/** Whether a JSON text names a file that the gateway keeps. */
export function namesOwnFile(text: string): boolean {
  return OWN_FILE.test(text);
}

/**
 * Checks members that the gateway and the provider must read alike.
 *
 * @throws GatewayError 400 for a member that is stated twice, or in another case: parsers differ in what they use
 */
export function assertClearMembers(text: string, names: readonly string[]): void {
  const name = findAmbiguousMember(text, names);
  if (name !== null) throw invalidRequest(`the body names ${name} twice, or in another case`, name);
}

/** The members that decide where a request goes, and what it costs. */
const listDecidingMembers = oncePer((dialect: NativeDialect): readonly string[] => [
  "model",
  "stream",
  ...dialect.maxTokensMembers.flatMap(([name = ""]) => name),
]);

/** What the native path needs of a request: the model's name and whether it streams. */
interface RequestFacts {
  readonly model: unknown;
  readonly stream: boolean;
}

/**
 * Prepares a request for providers of its own protocol. Null: no provider of the model speaks it.
 *
 * @throws GatewayError 400 for a body whose readers would disagree about the model, the stream or the limit of tokens
 */
export async function prepareNativeRequest(
  context: Context,
  dialect: NativeDialect,
  { text, value }: JsonBody,
  { model, stream }: RequestFacts,
): Promise<NativeJob | null> {
  if (!isObject(value) || typeof model !== "string") return null;
  if (!(await hasNativeProvider(context, dialect.id, model))) return null;
  assertClearMembers(text, listDecidingMembers(dialect));
  const adapted = dialect.adapt?.(text, stream) ?? { text };
  return {
    request: {
      dialect: dialect.id,
      text: adapted.text,
      stream,
      headers: selectRequestHeaders(context.request, dialect),
      query: selectQuery(context.url, dialect),
    },
    style: dialect,
    accountStateIds: (dialect.listAccountStates?.(value) ?? []).filter((id) => typeof id === "string"),
    ...(adapted.hidesUsageEvent === true ? { hidesUsageEvent: true } : {}),
  };
}

/** A translated request, and the request in its own protocol for providers that speak it. */
export interface ReadRequest<Translated> {
  readonly translated: Translated;
  readonly native: NativeJob | undefined;
}

/**
 * Translates a request. If the translation fails, a provider of the same protocol can still answer the request: it knows
 * fields and types that the gateway does not.
 *
 * @param translate throws a `GatewayError` 400 for what it cannot translate
 * @param describe the request without its content, for a request that cannot be translated
 */
export async function translateForNative<Translated>(
  native: NativeJob | null,
  translate: () => Promise<Translated>,
  describe: () => Promise<Translated>,
): Promise<ReadRequest<Translated>> {
  if (native === null) return { translated: await translate(), native: undefined };
  try {
    return { translated: await translate(), native };
  } catch (error) {
    const canPass = error instanceof GatewayError && error.status === 400 && error.code !== "model_not_found";
    if (!canPass || namesOwnFile(native.request.text)) throw error;
    return { translated: await describe(), native: { ...native, translationError: error } };
  }
}

/** Whether a conversation refers to files of the gateway. Their ids mean nothing to the provider. */
export function refersToFiles({ messages }: Conversation): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.type !== "text" && part.source.kind === "file"),
  );
}

/** Whether an entry of a conversation is by the model: protocols name the role in two ways. */
function isAssistantRole(role: unknown): boolean {
  return role === "assistant" || role === "model";
}

/** Describes a request that only its own protocol can express. The history shows its messages as JSON. */
export function describeConversation(
  { id: dialect, contentMember }: NativeDialect,
  { text, value }: JsonBody,
  model: ResolvedModel,
  stream: boolean,
): Conversation {
  const content = getMemberText(text, [contentMember]) ?? text;
  const body = isObject(value) ? value : {};
  const turns = Array.isArray(body[contentMember]) ? body[contentMember] : [];
  return {
    sessionId: findSessionId(body) ?? JSON.stringify(turns[0] ?? ""),
    hasAssistantTurn: turns.some((turn) => isObject(turn) && isAssistantRole(turn["role"])),
    dialect,
    contentField: contentMember,
    model,
    messages: [{ role: "user", parts: [{ type: "text", text: content }] }],
    tools: [],
    toolChoice: { type: "auto" },
    parallelToolCalls: true,
    thinking: true,
    showReasoning: true,
    options: {},
    responseFormat: { type: "text" },
    stream,
  };
}

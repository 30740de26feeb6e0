import type { ToolDefinition } from "../../../core/conversation/tool.ts";
import type { WebSearch } from "../../../core/conversation/web-search.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseCacheControl } from "./cache-control.ts";
import { optionalString } from "./members.ts";
import { parseWebSearch } from "./web-search.ts";

/** A declared tool under the name that the caller uses. */
export interface DeclaredTool {
  /** `custom`: a tool with free-text input. */
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
}

/** Parameter schema of a free-text tool. */
const FREE_TEXT_SCHEMA = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** Returns the flat name under which the model sees a tool of a namespace. */
function toFlatName(name: string, namespace: string | undefined): string {
  if (namespace === undefined || namespace === "") return name;
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`;
}

/** Adds a custom tool's grammar to its description, because a JSON schema cannot express it. */
function describeCustomTool(tool: JsonObject): string {
  const described = optionalString(tool, "description") ?? "";
  const declared = tool["format"];
  if (!isObject(declared)) return described;
  // The chat-completions style nests these fields under `grammar`; the responses style does not.
  const format = isObject(declared["grammar"]) ? declared["grammar"] : declared;
  const definition = optionalString(format, "definition");
  if (definition === undefined) return described;
  const syntax = optionalString(format, "syntax") ?? "grammar";
  return `${described}\n\nThe input is free text that follows this ${syntax} grammar:\n${definition}`.trim();
}

/**
 * The tools of a request in the chat-completions or responses style, with nested (`{type, function: {…}}`) or flat
 * definitions. The model gets functions and free-text tools; tools of a namespace get a flat name. Tools that only the real
 * service can run (web search and similar) are accepted but not offered (docs/clients.md, assertion 16).
 */
export class DeclaredTools {
  readonly definitions: ToolDefinition[] = [];
  /** Options of the real service's web search, if the request declares that tool. */
  webSearch: WebSearch | undefined;
  readonly #byFlatName = new Map<string, DeclaredTool>();
  /** Flat names by a tool's own name; null if two namespaces have a tool of that name. */
  readonly #byBareName = new Map<string, string | null>();

  /**
   * Adds the value of a `tools` field.
   *
   * @throws GatewayError 400 that names the invalid tool.
   */
  add(tools: unknown, fieldPath: string, namespace?: string): void {
    if (tools === null || tools === undefined) return;
    if (!Array.isArray(tools)) throw invalidRequest(`${fieldPath} must be an array`, fieldPath);
    for (const [index, tool] of tools.entries()) this.#addOne(tool, `${fieldPath}[${index}]`, namespace);
  }

  /**
   * Returns the declared tool for a call of the model. An undeclared name is returned as a function; the caller must handle
   * it.
   */
  findCalledTool(name: string): DeclaredTool {
    return this.#byFlatName.get(this.#resolveFlatName(name)) ?? { kind: "function", name };
  }

  /** Returns the flat name of a tool that an earlier call used. */
  getFlatName(name: string, namespace: string | undefined): string {
    return namespace === undefined ? this.#resolveFlatName(name) : toFlatName(name, namespace);
  }

  /** Returns whether the request declares a tool with this name. */
  has(name: string, namespace?: string): boolean {
    return this.#byFlatName.has(this.getFlatName(name, namespace));
  }

  /** Removes all tools except those with these flat names. */
  retainOnly(flatNames: ReadonlySet<string>): void {
    const allowedDefinitions = this.definitions.filter(({ name }) => flatNames.has(name));
    this.definitions.length = 0;
    for (const tool of allowedDefinitions) this.definitions.push(tool);
  }

  #resolveFlatName(name: string): string {
    return this.#byFlatName.has(name) ? name : (this.#byBareName.get(name) ?? name);
  }

  #addOne(tool: unknown, fieldPath: string, namespace: string | undefined): void {
    if (!isObject(tool)) throw invalidRequest(`${fieldPath} must be an object`, fieldPath);
    const type = optionalString(tool, "type") ?? "function";
    if (type === "namespace") {
      this.add(tool["tools"], `${fieldPath}.tools`, optionalString(tool, "name"));
      return;
    }
    if (type.startsWith("web_search")) this.webSearch ??= parseWebSearch(tool);
    if (type !== "function" && type !== "custom") return;
    const nested = tool[type];
    const [declared, toolPath] = isObject(nested) ? [nested, `${fieldPath}.${type}`] : [tool, fieldPath];
    const name = optionalString(declared, "name");
    if (name === undefined || name === "") {
      throw invalidRequest(`${toolPath}.name must be a non-empty string`, `${toolPath}.name`);
    }
    const flat = toFlatName(name, namespace);
    if (this.#byFlatName.has(flat)) return;
    this.#byFlatName.set(flat, { kind: type, name, ...(namespace === undefined ? {} : { namespace }) });
    if (flat !== name) this.#byBareName.set(name, this.#byBareName.has(name) ? null : flat);
    const { cache } = { ...parseCacheControl(declared), ...parseCacheControl(tool) };
    const definition = this.#definition(type, flat, declared, toolPath);
    this.definitions.push(cache === undefined ? definition : { ...definition, cache });
  }

  #definition(
    type: "function" | "custom",
    name: string,
    declared: JsonObject,
    fieldPath: string,
  ): ToolDefinition {
    const definition: ToolDefinition = { name };
    const description =
      type === "custom" ? describeCustomTool(declared) : optionalString(declared, "description");
    if (description !== undefined && description !== "") definition.description = description;
    if (type === "custom") {
      definition.parameters = FREE_TEXT_SCHEMA;
      return definition;
    }
    const parameters = declared["parameters"];
    if (isObject(parameters)) definition.parameters = parameters;
    else if (parameters !== undefined && parameters !== null) {
      throw invalidRequest(`${fieldPath}.parameters must be an object`, `${fieldPath}.parameters`);
    }
    if (declared["strict"] === true) definition.strict = true;
    return definition;
  }
}

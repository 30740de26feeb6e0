import { declaredProperties, type JsonSchema, type ToolDefinition } from "../conversation/tool.ts";
import { ArgumentsWriter } from "./arguments.ts";
import type { Output } from "./output.ts";
import type { Tag } from "./tags.ts";
import { ParameterValue, type Wanted } from "./value.ts";

/** The declared parameters of every tool of the request. */
export class Catalogue {
  readonly #tools = new Map<string, ReadonlyMap<string, JsonSchema>>();

  constructor(tools: readonly ToolDefinition[]) {
    for (const tool of tools) this.#tools.set(tool.name, declaredProperties(tool));
  }

  get size(): number {
    return this.#tools.size;
  }

  parameters(tool: string): ReadonlySet<string> {
    return new Set(this.#tools.get(tool)?.keys());
  }

  wanted(tool: string, parameter: string): Wanted {
    const type = this.#tools.get(tool)?.get(parameter)?.type;
    if (type === "string") return "text";
    return type === "array" || type === "object" ? "structure" : "any";
  }
}

/** An announced call, which is written to the output as it comes. */
export class Call {
  readonly #output: Output;
  readonly #catalogue: Catalogue;
  readonly #name: string;
  readonly #index: number;
  readonly #writer: ArgumentsWriter;

  constructor(output: Output, catalogue: Catalogue, name: string, whole: boolean) {
    this.#output = output;
    this.#catalogue = catalogue;
    this.#name = name;
    this.#index = output.call(name);
    this.#writer = new ArgumentsWriter((fragment) => output.fragment(this.#index, fragment), whole);
  }

  /** Begins the parameter that `tag` opens. */
  value(tag: Tag): ParameterValue {
    const name = tag.name ?? "";
    const wanted = this.#catalogue.wanted(this.#name, name);
    return new ParameterValue(this.#writer, name, wanted === "any" && tag.verbatim ? "text" : wanted);
  }

  end(): void {
    this.#writer.end();
    this.#output.end(this.#index);
  }

  /** The text is over within the call: it stays without an end, and its arguments as far as they came. */
  leave(): void {
    this.#writer.leave();
  }

  /** Ends the call with an object that came as JSON. */
  endWith(source: string): void {
    this.#output.fragment(this.#index, source);
    this.#output.end(this.#index);
  }
}

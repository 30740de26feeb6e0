import { declaredProperties, type ToolDefinition } from "../conversation/tool.ts";
import { ArgumentsWriter } from "./arguments.ts";
import { conform } from "./conform.ts";
import { Declared } from "./declared.ts";
import type { Output } from "./output.ts";
import type { Tag } from "./tags.ts";
import { ParameterValue, type Wanted } from "./value.ts";

/** The declared parameters of every tool of the request. */
export class Catalogue {
  readonly #tools = new Map<string, ToolDefinition>();
  readonly #declared = new Map<string, Declared>();

  constructor(tools: readonly ToolDefinition[]) {
    for (const tool of tools) this.#tools.set(tool.name, tool);
  }

  get size(): number {
    return this.#tools.size;
  }

  parameters(tool: string): ReadonlySet<string> {
    return new Set(declaredProperties(this.#tools.get(tool)).keys());
  }

  /** The declared schema of a tool's arguments. */
  declared(tool: string): Declared {
    const known = this.#declared.get(tool) ?? Declared.of(this.#tools.get(tool)?.parameters);
    this.#declared.set(tool, known);
    return known;
  }
}

function wantedOf(declared: Declared): Wanted {
  if (declared.text) return "text";
  const structure = declared.allows("array") || declared.allows("object");
  return structure && !declared.allows("string") ? "structure" : "any";
}

/** An announced call. It is written to the output while it arrives. */
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

  /** Begins the value of the parameter that `tag` opens. */
  value(tag: Tag): ParameterValue {
    const name = tag.name ?? "";
    const declared = this.#catalogue.declared(this.#name).member(name);
    const wanted = wantedOf(declared);
    return new ParameterValue(
      this.#writer,
      name,
      wanted === "any" && tag.verbatim ? "text" : wanted,
      declared,
    );
  }

  end(): void {
    this.#writer.end();
    this.#output.end(this.#index);
  }

  /** The text ended within the call: the call gets no end, and its arguments stay incomplete. */
  leave(): void {
    this.#writer.leave();
  }

  /** Ends the call with arguments that arrived as one JSON object. */
  endWith(source: string): void {
    this.#output.fragment(this.#index, conform(source, this.#catalogue.declared(this.#name)));
    this.#output.end(this.#index);
  }
}

import { declaredProperties, type ToolDefinition } from "../../core/conversation/tool.ts";
import { ArgumentsWriter } from "./arguments-writer.ts";
import { DeclaredSchema } from "./declared-schema.ts";
import type { EventOutput } from "./event-output.ts";
import { type ExpectedType, ParameterValue } from "./parameter-value.ts";
import type { Tag } from "./tags.ts";
import { convertToDeclaredTypes } from "./type-conversion.ts";

/** The declared parameters of every tool of the request. */
export class ToolSchemas {
  readonly #tools = new Map<string, ToolDefinition>();
  readonly #declared = new Map<string, DeclaredSchema>();

  constructor(tools: readonly ToolDefinition[]) {
    for (const tool of tools) this.#tools.set(tool.name, tool);
  }

  get size(): number {
    return this.#tools.size;
  }

  parameterNames(tool: string): ReadonlySet<string> {
    return new Set(declaredProperties(this.#tools.get(tool)).keys());
  }

  /** The declared schema of a tool's arguments. */
  schemaOf(tool: string): DeclaredSchema {
    const known = this.#declared.get(tool) ?? DeclaredSchema.analyse(this.#tools.get(tool)?.parameters);
    this.#declared.set(tool, known);
    return known;
  }
}

function toExpectedType(schema: DeclaredSchema): ExpectedType {
  if (schema.isStringOnly) return "text";
  const structure = schema.allows("array") || schema.allows("object");
  return structure && !schema.allows("string") ? "structure" : "any";
}

/** An announced call. It is written to the output while it arrives. */
export class CallWriter {
  readonly #output: EventOutput;
  readonly #schemas: ToolSchemas;
  readonly #name: string;
  readonly #index: number;
  readonly #writer: ArgumentsWriter;

  constructor(output: EventOutput, schemas: ToolSchemas, name: string, isWhole: boolean) {
    this.#output = output;
    this.#schemas = schemas;
    this.#name = name;
    this.#index = output.beginCall(name);
    this.#writer = new ArgumentsWriter((fragment) => output.addArguments(this.#index, fragment), isWhole);
  }

  /** Begins the value of the parameter that `tag` opens. */
  beginParameter(tag: Tag): ParameterValue {
    const name = tag.name ?? "";
    const schema = this.#schemas.schemaOf(this.#name).member(name);
    const expectedType = toExpectedType(schema);
    return new ParameterValue(
      this.#writer,
      name,
      expectedType === "any" && tag.isString ? "text" : expectedType,
      schema,
    );
  }

  end(): void {
    this.#writer.end();
    this.#output.endCall(this.#index);
  }

  /** The text ended within the call: the call gets no end, and its arguments stay incomplete. */
  leaveOpen(): void {
    this.#writer.leaveOpen();
  }

  /** Ends the call with arguments that arrived as one JSON object. */
  endWith(source: string): void {
    this.#output.addArguments(
      this.#index,
      convertToDeclaredTypes(source, this.#schemas.schemaOf(this.#name)),
    );
    this.#output.endCall(this.#index);
  }
}

import { declaredProperties, type JsonSchema, type ToolDefinition } from "../../core/conversation/tool.ts";
import { isObject } from "../../core/encoding/json.ts";
import { renderInvoke, renderWrapper } from "./markup.ts";

const MAX_PARAMETERS = 3;

function createExampleValue(schema: JsonSchema, depth: number): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "integer" || type === "number") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return true;
  if (type === "array") {
    const { items } = schema;
    return [isObject(items) && depth < 3 ? createExampleValue({ ...items }, depth + 1) : "…"];
  }
  if (type === "object") {
    const properties = declaredProperties({ name: "", parameters: schema });
    const chosen = depth < 3 ? [...properties].slice(0, MAX_PARAMETERS) : [];
    return Object.fromEntries(
      chosen.map(([name, memberSchema]) => [name, createExampleValue(memberSchema, depth + 1)]),
    );
  }
  return "…";
}

/** Example values for a tool's parameters as JSON text: for the required ones, or else for the first ones. */
function createExampleArguments(tool: ToolDefinition): ReadonlyMap<string, string> {
  const properties = declaredProperties(tool);
  const required = new Set<unknown>(Array.isArray(tool.parameters?.required) ? tool.parameters.required : []);
  const names = [...properties.keys()];
  const requiredNames = names.filter((name) => required.has(name));
  const chosen = requiredNames.length > 0 ? requiredNames : names.slice(0, MAX_PARAMETERS);
  return new Map(
    chosen.map((name) => [name, JSON.stringify(createExampleValue(properties.get(name) ?? {}, 0))]),
  );
}

/** An example of the markup with declared tools: two calls if `parallel` and there are two tools, else one. */
export function renderExampleCalls(tools: readonly ToolDefinition[], parallel: boolean): string {
  const exampleTools = tools.slice(0, parallel ? 2 : 1);
  return renderWrapper(exampleTools.map((tool) => renderInvoke(tool.name, createExampleArguments(tool))));
}

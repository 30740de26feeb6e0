/**
 * Cuts what the tests check out of OpenAI's published API description, and writes it to `test/fixtures/published/`.
 *
 * node scripts/published-schemas.mjs openapi.json
 *
 * The description is github.com/openai/openai-openapi (MIT). Words for people are left out, and so are the variants of
 * unions that this program never writes: a body that needs one of those does not pass.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is checked: whole bodies, and every event of the streams. */
const ROOTS = [
  "Response",
  "ResponseItemList",
  "CompactResource",
  "TokenCountsResource",
  "ErrorResponse",
  "CreateChatCompletionResponse",
  "CreateChatCompletionStreamResponse",
];

/** The events that this program writes. */
const EVENTS =
  /^Response(Created|InProgress|Completed|Failed|Incomplete|OutputItem|ContentPart|Text|Refusal|FunctionCall|CustomToolCall|ReasoningSummary|OutputTextAnnotation).*Event$/;

/** Of unions of many kinds of items and tools: those that this program writes. */
const KINDS =
  /^(OutputMessage|InputMessageResource|Message|FunctionToolCall\w*|CustomToolCall\w*|ReasoningItem|CompactionBody|FunctionTool|CustomToolParam|NamespaceToolParam|ToolSearchToolParam|WebSearchTool|WebSearchPreviewTool|ImageGenTool|ToolChoiceOptions|ToolChoiceAllowed|ToolChoiceFunction|ToolChoiceCustom|ToolChoiceTypes)$/;
const WIDE = new Set(["OutputItem", "ItemResource", "ItemField", "Tool", "ToolChoiceParam"]);

/** What is the caller's own, or names the service's own models. */
const ANYTHING = new Set([
  "InputItem",
  "Prompt",
  "ModelIdsResponses",
  "Moderation",
  "ChatCompletionModeration",
]);

/** Members that change nothing about what is valid. */
const WORDS = new Set([
  "description",
  "title",
  "example",
  "examples",
  "default",
  "deprecated",
  "discriminator",
  "format",
]);

/** What the real API sends as null although its description has no null there. */
const NULL_TOO = [
  // Until the response has ended.
  ["Response", "usage"],
  ["ModelResponseProperties", "user"],
];

const PREFIX = "#/components/schemas/";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("Which openapi.json?");
const { info, components } = JSON.parse(readFileSync(path, "utf8"));
const { schemas } = components;
const nameOf = (reference) => reference.slice(PREFIX.length);

/** A schema without words; `within` is set where the members are names of the API. */
function plain(value, within = false) {
  if (Array.isArray(value)) return value.map((each) => plain(each));
  if (typeof value !== "object" || value === null) return value;
  // A word of OpenAPI 3.0, which is still meant.
  if (!within && value.nullable === true) {
    const { nullable: _, ...schema } = value;
    return { anyOf: [plain(schema), { type: "null" }] };
  }
  const entries = Object.entries(value).filter(
    ([name]) => within || !(WORDS.has(name) || name.startsWith("x-")),
  );
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name,
      !within && name === "$ref" ? `#/$defs/${nameOf(each)}` : plain(each, !within && name === "properties"),
    ]),
  );
}

const cut = {};

function allowNull(schema, member) {
  const holder = [schema, ...(schema.allOf ?? [])].find(
    ({ properties }) => properties?.[member] !== undefined,
  );
  holder.properties[member] = { anyOf: [holder.properties[member], { type: "null" }] };
}

function take(name) {
  if (name in cut) return;
  let schema = schemas[name];
  if (WIDE.has(name)) {
    const kept = schema.oneOf.filter(({ $ref }) => KINDS.test(nameOf($ref)));
    // Several may fit what a caller's own item looks like: the published union is not exclusive.
    schema = { anyOf: kept };
  }
  if (ANYTHING.has(name)) schema = {};
  cut[name] = plain(schema);
  for (const [owner, member] of NULL_TOO) if (owner === name) allowNull(cut[name], member);
  for (const [, next] of JSON.stringify(cut[name]).matchAll(/"\$ref":"#\/\$defs\/([\w-]+)"/g)) take(next);
}

const events = {};
for (const { $ref } of schemas.ResponseStreamEvent.anyOf) {
  const name = nameOf($ref);
  if (!EVENTS.test(name)) continue;
  take(name);
  events[cut[name].properties.type.enum[0]] = name;
}
for (const name of ROOTS) take(name);

const $comment = `Cut by scripts/published-schemas.mjs out of github.com/openai/openai-openapi ${info.version} (MIT).`;
const definitions = Object.keys(cut)
  .sort()
  .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(cut[name])}`);
const target = join(import.meta.dirname, "../test/fixtures/published/openai.json");
writeFileSync(
  target,
  `{\n  "$comment": ${JSON.stringify($comment)},\n  "events": ${JSON.stringify(events)},\n  "$defs": {\n${definitions.join(",\n")}\n  }\n}\n`,
);

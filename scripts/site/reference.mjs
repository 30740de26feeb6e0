// Generates the pages of the API reference from the gateway's own OpenAPI document.
import { describeField } from "./field-descriptions.mjs";

/** Maximum depth of nested fields. */
const DEPTH = 3;

/** Maximum number of listed alternatives and values before "…". */
const MOST = 12;

/** Tables with more rows are collapsed. */
const OPEN_ROWS = 12;

/** Fields whose members another operation describes. */
const OPAQUE = new Set(["config_override"]);

const code = (text) => `\`${text}\``;

/** Escapes text for a table cell: bars end a cell, and angle and curly brackets have a meaning in VitePress. */
const cell = (text) =>
  text.replaceAll("\n", " ").replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");

const few = (texts) => {
  const different = [...new Set(texts)];
  return different.length > MOST ? `${different.slice(0, MOST).join(", ")}, …` : different.join(", ");
};

/** Describes what a schema allows. */
function typeOf(schema, schemas) {
  const { $ref, anyOf, oneOf, type, items, format } = schema;
  if ($ref !== undefined) return typeOf(resolve(schema, schemas), schemas);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return few(schema.enum.map((value) => code(JSON.stringify(value))));
  const ways = anyOf ?? oneOf;
  if (ways !== undefined) return few(ways.map((way) => typeOf(way, schemas))).replaceAll(", ", " or ");
  if (type === "array") return items === undefined ? "array" : `array of ${typeOf(items, schemas)}`;
  if (Array.isArray(type)) return type.join(" or ");
  return [type ?? "anything", bounds(schema), format].filter(Boolean).join(", ");
}

/** Describes the bounds of a number or a text. Omits the bounds of the largest integers. */
function bounds({ minimum, maximum, minLength, maxLength, default: usual }) {
  const said = (value) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return [
    said(minimum) && `at least ${minimum}`,
    said(maximum) && `at most ${maximum}`,
    minLength > 1 && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    usual !== undefined && `${code(JSON.stringify(usual))} unless given`,
  ]
    .filter(Boolean)
    .join(", ");
}

function resolve(schema, schemas) {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1)] ?? {});
}

/** Lists the fields of an object and of nested objects: `[path, schema, required]`. */
function fieldsOf(schema, schemas, prefix = "", depth = DEPTH) {
  const { properties, required = [], items, anyOf, oneOf } = resolve(schema, schemas);
  if (depth === 0) return [];
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, inner]) => [
      [prefix + name, inner, required.includes(name)],
      ...(OPAQUE.has(name) ? [] : fieldsOf(inner, schemas, `${prefix}${name}.`, depth - 1)),
    ]);
  }
  if (items !== undefined) return fieldsOf(items, schemas, prefix.replace(/\.$/, "[]."), depth);
  // Use the first alternative with fields. The field's type lists the others.
  return (
    (anyOf ?? oneOf ?? [])
      .map((way) => fieldsOf(way, schemas, prefix, depth))
      .find((fields) => fields.length > 0) ?? []
  );
}

function table(head, rows) {
  if (rows.length === 0) return "";
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function fieldTable(schema, schemas, tag) {
  const rows = fieldsOf(schema, schemas).map(([path, inner, required]) => [
    code(path),
    typeOf(inner, schemas),
    [required ? "required" : "", resolve(inner, schemas).description ?? describeField(path, tag)]
      .filter(Boolean)
      .join(": "),
  ]);
  return collapsed(table(["field", "type", ""], rows), `${rows.length} fields`, rows.length);
}

const collapsed = (text, title, rows) => (rows > OPEN_ROWS ? `::: details ${title}\n\n${text}\n\n:::` : text);

/** Describes the possible bodies, by media type. */
function content(media, schemas, tag) {
  return Object.entries(media ?? {}).flatMap(([type, { schema = {} }]) => {
    const fields = fieldTable(schema, schemas, tag);
    return fields === "" ? [`${code(type)}: ${cell(typeOf(schema, schemas))}.`] : [`${code(type)}:`, fields];
  });
}

function section(method, path, aliases, operation, schemas) {
  const {
    summary = "",
    description = "",
    parameters = [],
    requestBody,
    responses = {},
    security = [],
  } = operation;
  const tag = slug(operation.tags?.[0] ?? "");
  const whole = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const others = Object.entries(responses).filter(([status]) => !status.startsWith("2"));
  return [
    `## ${method.toUpperCase()} ${path}`.replaceAll("{", "\\{"),
    [summary, description]
      .filter(Boolean)
      .map((text) => cell(text))
      .join(". ")
      .replace(/([^.])$/, "$1."),
    aliases.length === 0 ? "" : `The same: ${aliases.map(code).join(", ")}.`,
    security.length === 0 ? "Needs no key." : "",
    collapsed(
      table(
        ["parameter", "in", "type", ""],
        parameters.map(({ name, in: where, schema = {}, required, description: own }) => [
          code(name),
          where,
          typeOf(schema, schemas),
          [required ? "required" : "", own ?? schema.description ?? describeField(name, tag)]
            .filter(Boolean)
            .join(": "),
        ]),
      ),
      `${parameters.length} parameters`,
      parameters.length,
    ),
    ...(requestBody === undefined ? [] : ["**Request**", ...content(requestBody.content, schemas, tag)]),
    ...whole.flatMap(([status, { description: text = "", content: media, headers = {} }]) => [
      `**Answer ${status}**: ${cell(text)}`,
      collapsed(
        table(
          ["header", ""],
          Object.entries(headers).map(([name, header]) => [code(name), header.description ?? ""]),
        ),
        `${Object.keys(headers).length} headers`,
        Object.keys(headers).length,
      ),
      ...content(media, schemas, tag),
    ]),
    others.some(([, { description: text }]) => text !== undefined)
      ? table(
          ["otherwise", ""],
          others.map(([status, { description: text = "Any other error." }]) => [code(status), text]),
        )
      : others.length === 0
        ? ""
        : `Errors: ${others.map(([status]) => code(status)).join(", ")}.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Pages of a tag with many operations, by the second part of a path. */
const SUBJECTS = [
  ["Administration: sign-in and administrators", ["login", "verify", "administrators", "oidc", "audit"]],
  ["Administration: configuration", ["config", "export", "import", "settings", "hosting", "version"]],
  ["Administration: keys and teams", ["keys", "teams", "users", "tags", "page-links", "guardrails"]],
  ["Administration: accounts and proxies", ["accounts", "proxies", "queue", "test"]],
  ["Administration: providers and routes", ["providers", "provider", "routes"]],
  [
    "Administration: usage and history",
    ["usage", "activity", "alerts", "chat-history", "dev", "metrics", "telemetry"],
  ],
];

const subjectOf = (tag, path) =>
  tag === "Administration"
    ? (SUBJECTS.find(([, parts]) => parts.includes(path.split("/")[2]))?.[0] ?? tag)
    : tag;

/** Returns the file name for a title. */
const slug = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

/** Joins operations that differ by their path alone. The vendor's own path comes before its neutral name. */
function joinAliases(operations) {
  const joined = new Map();
  for (const { method, path, operation } of operations) {
    const { operationId: _, ...rest } = operation;
    const key = method + JSON.stringify(rest);
    const entry = joined.get(key);
    if (entry === undefined) joined.set(key, { method, paths: [path], operation });
    else if (path.startsWith("/anthropic/")) entry.paths.unshift(path);
    else entry.paths.push(path);
  }
  return [...joined.values()];
}

/**
 * Generates pages for the tags of an OpenAPI document, in its order.
 *
 * @returns {{ name: string, title: string, text: string }[]} `name` is the file name without `.md`
 */
export function referencePages({ tags, paths, components = {} }) {
  const schemas = components.schemas ?? {};
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      method,
      path,
      operation: item[method],
    })),
  );
  return tags.flatMap(({ name: tag, description = "" }) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(tag));
    const titles = [...new Set(own.map(({ path }) => subjectOf(tag, path)))];
    return titles.map((title) => {
      const sections = joinAliases(own.filter(({ path }) => subjectOf(tag, path) === title)).map(
        ({ method, paths: [path, ...aliases], operation }) =>
          section(method, path, aliases, operation, schemas),
      );
      return {
        name: slug(title),
        title,
        text: `${[`# ${title}`, cell(description), ...sections].filter((part) => part !== "").join("\n\n")}\n`,
      };
    });
  });
}

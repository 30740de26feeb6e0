import { decodeEntities } from "./entities.ts";
import { parseLiteral } from "./literals.ts";

/** The content between the tags of an element. */
interface Content {
  children: { name: string; content: Content }[];
  /** The text if there are no children; undefined if there is text beside children. */
  text: string | undefined;
  verbatim: boolean;
}

const TAG = /<(?:(\/?)([A-Za-z_][\w.-]*)\s*(\/?)>|!\[CDATA\[)/g;
const MAX_DEPTH = 64;
const BREAK = /<br\s*\/?>/gi;

/** Parses a text that consists of elements without attributes; undefined for anything else, such as prose or HTML. */
function readElements(source: string): Content | undefined {
  const root: Content = { children: [], text: "", verbatim: false };
  const stack: { name: string; content: Content }[] = [{ name: "", content: root }];
  let from = 0;
  const addText = (text: string, verbatim: boolean): boolean => {
    const content = stack.at(-1)?.content;
    if (!content) return false;
    if (verbatim) {
      content.text = (content.verbatim ? (content.text ?? "") : (content.text ?? "").trimStart()) + text;
      content.verbatim = true;
    } else if (!content.verbatim || text.trim() !== "")
      content.text = (content.text ?? "") + decodeEntities(text);
    return true;
  };
  TAG.lastIndex = 0;
  for (let match = TAG.exec(source); match; match = TAG.exec(source)) {
    const [matched, slash, name, empty] = match;
    if (!addText(source.slice(from, match.index), false)) return undefined;
    from = match.index + matched.length;
    if (name === undefined) {
      const end = source.indexOf("]]>", from);
      if (end < 0 || !addText(source.slice(from, end), true)) return undefined;
      from = end + 3;
    } else if (slash) {
      if (stack.length === 1 || stack.pop()?.name !== name) return undefined;
    } else {
      const content: Content = { children: [], text: "", verbatim: false };
      stack.at(-1)?.content.children.push({ name, content });
      if (!empty) stack.push({ name, content });
      if (stack.length > MAX_DEPTH) return undefined;
    }
    TAG.lastIndex = from;
  }
  if (stack.length !== 1 || !addText(source.slice(from), false)) return undefined;
  return isClean(root) ? root : undefined;
}

/** Whether no element mixes text with other elements, and no tag was left as text. */
function isClean(content: Content): boolean {
  const text = content.text ?? "";
  if (content.children.length === 0) return content.verbatim || !text.includes("<");
  return text.trim() === "" && content.children.every((child) => isClean(child.content));
}

function toJson({ children, text = "", verbatim }: Content): string {
  if (children.length === 0) {
    if (text.trim() === "") return '""';
    return parseLiteral(text) ?? JSON.stringify(verbatim ? text : text.trim());
  }
  if (children.every((child) => child.name === "item")) {
    return `[${children.map((child) => toJson(child.content)).join(",")}]`;
  }
  const members = new Map<string, string[]>();
  for (const { name, content } of children) {
    const sources = members.get(name);
    if (sources) sources.push(toJson(content));
    else members.set(name, [toJson(content)]);
  }
  const written = [...members].map(([name, sources]) => {
    const [single = '""'] = sources;
    return `${JSON.stringify(name)}:${sources.length === 1 ? single : `[${sources.join(",")}]`}`;
  });
  return `{${written.join(",")}}`;
}

/**
 * Converts a parameter body that clearly consists of elements to JSON: a list of only `<item>`s becomes an array; nested,
 * repeated or several elements become objects and arrays. Undefined if the body should stay text: a single flat element,
 * elements with attributes, prose between tags.
 * @param quoted Whether the body was CDATA, which is text unless it is a list of items or contains CDATA itself.
 */
export function convertElementsToJson(body: string, quoted: boolean): string | undefined {
  const trimmed = body.trim();
  const source = /<item\s*>/.test(trimmed) ? trimmed.replace(BREAK, "").trim() : trimmed;
  if (!source.startsWith("<") || !source.endsWith(">")) return undefined;
  const root = readElements(source);
  if (!root || root.children.length === 0) return undefined;
  const items = root.children.every((child) => child.name === "item");
  if (items) return toJson(root);
  if (quoted && !source.includes("<![CDATA[")) return undefined;
  const [rootElement] = root.children;
  const flat = root.children.length === 1 && rootElement?.content.children.length === 0;
  return flat ? undefined : toJson(root);
}

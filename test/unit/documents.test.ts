import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";
import { FIELD_DESCRIPTIONS } from "../../scripts/site/field-descriptions.mjs";
import { referencePages } from "../../scripts/site/reference.mjs";
import { sidebar } from "../../scripts/site/sidebar.mjs";
import { buildOpenApiDocument } from "../../src/core/routing/openapi.ts";
import { blocksOf, citationsOf, documents, hasPlaces } from "../support/documents.ts";
import { ROUTE_GROUPS } from "../support/route-groups.ts";

const DOCUMENTS = documents();
const BLOCKS = DOCUMENTS.flatMap(({ path, text }) => blocksOf(path, text));

/** The anchor of a heading, as web sites of repositories make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

const anchors = (path: string): Set<string> =>
  new Set(
    Array.from(readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm), ([, heading = ""]) => anchorOf(heading)),
  );

const inLanguage = (language: string) => BLOCKS.filter((block) => block.language === language);

describe("the documents", () => {
  it("link to what is there", () => {
    const broken = DOCUMENTS.flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g),
        ([, link, source]) => link ?? source,
      )
        .filter((link) => link !== undefined && !/^[a-z]+:/.test(link))
        .filter((link = "") => {
          const [file = "", anchor] = link.split("#");
          const target = file === "" ? join(root, path) : join(root, dirname(path), file);
          if (!existsSync(target)) return true;
          return anchor !== undefined && !anchors(target).has(anchor);
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it("name files that there are", () => {
    const gone = DOCUMENTS.flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/`((?:src|test|scripts|bench|durable-objects|sandbox|bin)\/[\w./-]+\.(?:tsx?|mjs))`/g),
        ([, name = ""]) => name,
      )
        .filter((name) => !existsSync(join(root, name)))
        .map((name) => `${path}: ${name}`),
    );
    expect(gone).toEqual([]);
  });

  it("are in an index each", () => {
    const indexOf = (path: string) =>
      /^(docs\/(?:page-)?contract)\//.exec(path)?.[1]?.concat(".md") ?? "docs/README.md";
    const missing = DOCUMENTS.map(({ path }) => path)
      .filter((path) => !path.startsWith("docs/decisions/") && path !== "docs/README.md")
      .filter((path) => {
        const index = indexOf(path);
        const linked = Array.from(
          readFileSync(join(root, index), "utf8").matchAll(/\]\(([^)\s#]+)/g),
          ([, link = ""]) => join(dirname(index), link),
        );
        return !linked.includes(path);
      });
    expect(missing).toEqual([]);
  });

  it("begin with a README of at most 900 words, whose first command is within 20 lines", () => {
    const [{ text = "" } = {}] = DOCUMENTS;
    expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(900);
    expect(text.split("\n").findIndex((line) => line.startsWith("npm "))).toBeLessThan(20);
  });

  it("write the prefix of the message style by its real name, but for the contract and where that is explained", () => {
    const neutral = DOCUMENTS.filter(
      ({ path, text }) => text.includes("/vendorb") && !/^docs\/contract[./]/.test(path),
    );
    expect(neutral.map(({ path }) => path)).toEqual(["docs/connect.md", "docs/glossary.md"]);
  });

  it("say of each block what language it is in", () => {
    const known = ["sh", "ts", "python", "json", "toml", "yaml", "text"];
    expect(BLOCKS.filter(({ language }) => !known.includes(language)).map(({ place }) => place)).toEqual([]);
  });
});

describe("the comments of the source", () => {
  const folders = ["src", "durable-objects", "sandbox", "scripts", "bin", "bench", "test"];
  const sources = folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

  it("cite documents, sections and rules that there are", () => {
    const cited = sources.flatMap(({ path, text }) =>
      citationsOf(text).map((citation) => ({ path, ...citation })),
    );
    expect(cited.length).toBeGreaterThan(200);
    const wrong = cited.filter(
      ({ file, places }) =>
        !existsSync(join(root, file)) || !hasPlaces(readFileSync(join(root, file), "utf8"), places),
    );
    expect(wrong).toEqual([]);
  });

  it("say which contract they cite", () => {
    const vague = sources.filter(({ path, text }) =>
      path === "test/unit/documents.test.ts" ? false : /\((?:page )?contract(?:[,:] [^)]*)?\)/.test(text),
    );
    expect(vague.map(({ path }) => path)).toEqual([]);
  });
});

it("the pages of the API reference tell of every operation, and of its fields", () => {
  const document = buildOpenApiDocument(ROUTE_GROUPS);
  const text = referencePages(document)
    .map((page) => page.text)
    .join("\n");
  const operations = Object.entries(Object(document["paths"])).flatMap(([path, item]) =>
    Object.keys(Object(item)).map((method) => ({ method, path })),
  );
  expect(operations.length).toBeGreaterThan(100);
  const aliases = text.split("\n").filter((line) => line.startsWith("The same: "));
  const missing = operations.filter(
    ({ method, path }) =>
      !text.includes(`## ${method.toUpperCase()} ${path.replaceAll("{", "\\{")}\n`) &&
      !aliases.some((line) => line.includes(`\`${path}\``)),
  );
  expect(missing).toEqual([]);
  const rows = Array.from(text.matchAll(/^\| `[^`]+` \| .* \| (.*) \|$/gm), ([, said = ""]) => said);
  const described = rows.filter((said) => said.replace(/^required/, "") !== "");
  expect(described.length / rows.length).toBeGreaterThan(0.85);
  expect(text).toContain("| `messages[].role` |");
  expect(text).toContain("| `304` | The answer has not changed");
  expect(text).toContain("| `x-page-url` | The final address of the page");
  expect(text).not.toMatch(/undefined|\[object Object\]/);
});

it("the API reference uses each description of a field that the schemas lack", () => {
  const descriptions = { ...FIELD_DESCRIPTIONS };
  for (const key of Object.keys(descriptions)) FIELD_DESCRIPTIONS[key] = `§${key}§`;
  const text = referencePages(buildOpenApiDocument(ROUTE_GROUPS))
    .map((page) => page.text)
    .join("\n");
  Object.assign(FIELD_DESCRIPTIONS, descriptions);
  expect(Object.keys(descriptions).filter((key) => !text.includes(`§${key}§`))).toEqual([]);
});

it("the web site's sidebar lists every document", () => {
  const listed = sidebar([], []).flatMap(({ items }) => items.map(({ link }) => `${link.slice(1)}.md`));
  const decisions = /^docs\/decisions\//;
  const paths = DOCUMENTS.map(({ path }) => path).filter((path) => !decisions.test(path));
  expect(paths.filter((path) => !listed.includes(path))).toEqual([]);
});

it("the messages under Troubleshooting are those that the program writes", () => {
  const text = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
  const program = ["src", "scripts"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
        join(root, folder, name),
      ),
    )
    .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  const told = Array.from(text.matchAll(/^(?:## |\| (?=`))([^|\n]+)/gm), ([, line = ""]) => line).flatMap(
    (line) => Array.from(line.matchAll(/`([^`]+)`/g), ([, message = ""]) => message),
  );
  expect(told.length).toBeGreaterThan(20);
  const pieces = told
    .flatMap((message) => message.split("…"))
    .map((piece) => piece.replaceAll('"', "").trim());
  expect(pieces.filter((piece) => !program.includes(piece))).toEqual([]);
});

describe("the blocks of the documents", () => {
  it.each(inLanguage("sh"))("bash can read $place", ({ text }) => {
    expect(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" })).toMatchObject({
      stderr: "",
      status: 0,
    });
  });

  it("name scripts that there are", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = inLanguage("sh").flatMap(({ place, text }) =>
      Array.from(text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g), ([, run, short]) => ({
        place,
        name: run ?? short ?? "",
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ name }) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it.each(inLanguage("json"))("$place is JSON", ({ text }) => {
    expect(() => JSON.parse(text)).not.toThrow();
  });
});

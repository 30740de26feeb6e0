// VitePress configuration of the documents. main.mjs copies it into the folder that it creates.
import { readdirSync, readFileSync } from "node:fs";

const reference = JSON.parse(readFileSync(new URL("../reference/pages.json", import.meta.url), "utf8"));
const decisions = JSON.parse(readFileSync(new URL("../docs/decisions/pages.json", import.meta.url), "utf8"));

const page = (text, link) => ({ text, link });

const sidebar = [
  {
    text: "Use",
    items: [
      page("What it is", "/"),
      page("Connect clients", "/docs/connect"),
      page("Tools for agents (MCP)", "/docs/mcp"),
      page("Engines", "/docs/engines"),
      page("Credentials", "/docs/credentials"),
      page("The page service", "/docs/page-service"),
      page("Troubleshooting", "/docs/troubleshooting"),
    ],
  },
  {
    text: "Run",
    items: [
      page("Deployment", "/docs/deployment"),
      page("Operating", "/docs/operating"),
      page("Telemetry", "/docs/telemetry"),
      page("Variables", "/docs/variables"),
      page("Performance", "/docs/performance"),
      page("Scale", "/docs/scale"),
      page("Security", "/SECURITY"),
      page("Changes", "/CHANGELOG"),
    ],
  },
  {
    text: "API reference",
    collapsed: true,
    items: reference.map(({ title, name }) => page(title, `/reference/${name}`)),
  },
  {
    text: "Contracts",
    collapsed: true,
    items: [
      page("The gateway", "/docs/contract"),
      page("The page service", "/docs/page-contract"),
      page("Clients", "/docs/clients"),
      page("Tool markup", "/docs/tool-markup"),
      page("The provider's protocol", "/docs/provider-protocol"),
      page("Anthropic backends", "/docs/anthropic-backends"),
      page("OpenAI Responses backends", "/docs/openai-responses-backends"),
      page("Gemini backends", "/docs/gemini-backends"),
    ],
  },
  {
    text: "Extend",
    collapsed: true,
    items: [
      page("Contributing", "/CONTRIBUTING"),
      page("Architecture", "/docs/architecture"),
      page("Glossary", "/docs/glossary"),
      page("The sandbox", "/sandbox/README"),
      page("Benchmarks", "/bench/README"),
    ],
  },
  {
    text: "Decisions",
    collapsed: true,
    items: decisions.map(({ title, name }) => page(title, `/docs/decisions/${name}`)),
  },
];

/** Headings of documents that no sidebar list contains. */
const docs = new URL("../docs/", import.meta.url);
const listed = new Set(sidebar.flatMap(({ items }) => items.map(({ link }) => link)));
const others = readdirSync(docs)
  .filter((name) => name.endsWith(".md") && !listed.has(`/docs/${name.slice(0, -".md".length)}`))
  .map((name) => {
    const [, title = name] = /^# (.+)$/m.exec(readFileSync(new URL(name, docs), "utf8")) ?? [];
    return page(title, `/docs/${name.slice(0, -".md".length)}`);
  });

export default {
  title: "Polygate",
  description: "A model gateway and a page service in one edge program.",
  // Keep the `.html` suffix, so that any static server works.
  cleanUrls: false,
  outDir: process.env.SITE_OUTPUT,
  rewrites: { "README.md": "index.md" },
  // A test checks links within documents; other links lead to source files.
  ignoreDeadLinks: [/^(?!.*\.(?:md|html)).*$/],
  markdown: {
    html: false,
    // Heading anchors in the style of repository hosts, because the links are written for them.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .trim()
          .replaceAll(" ", "-"),
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [...sidebar, ...(others.length > 0 ? [{ text: "More", collapsed: true, items: others }] : [])],
  },
};

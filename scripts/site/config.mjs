// VitePress configuration of the documents. main.mjs copies it into the folder that it creates.
import { readFileSync } from "node:fs";
import { sidebar } from "./sidebar.mjs";

const reference = JSON.parse(readFileSync(new URL("../reference/pages.json", import.meta.url), "utf8"));
const decisions = JSON.parse(readFileSync(new URL("../docs/decisions/pages.json", import.meta.url), "utf8"));

/** Gives each cell of a table with more than two columns the text of its column's head, for narrow screens (theme.css). */
function labelCells(md) {
  md.core.ruler.push("label-cells", ({ tokens }) => {
    let heads = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === "thead_open") heads = [];
      if (token.type === "th_open") heads.push(tokens[index + 1].content.replaceAll("`", ""));
      if (token.type === "tr_open") column = 0;
      if (token.type === "td_open" && heads.length > 2) token.attrSet("data-label", heads[column++] ?? "");
    }
  });
}

export default {
  title: "Polygate",
  description: "A model gateway and a page service in one edge program.",
  // Keep the `.html` suffix, so that any static server works.
  cleanUrls: false,
  outDir: process.env.SITE_OUTPUT,
  // A test checks links within documents; other links lead to source files.
  ignoreDeadLinks: [/^(?!.*\.(?:md|html)).*$/],
  markdown: {
    html: false,
    config: labelCells,
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
    nav: [
      { text: "Start", link: "/README" },
      { text: "Documents", link: "/docs/README" },
      { text: "Contract", link: "/docs/contract" },
      { text: "API reference", link: `/reference/${reference[0].name}` },
    ],
    sidebar: sidebar(reference, decisions),
  },
};

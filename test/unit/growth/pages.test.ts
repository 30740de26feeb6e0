import { expect, it } from "vitest";
import { signalsFromHtml } from "../../../src/pages/technologies/index.ts";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";

it.each([
  ["elements", (n: number) => "<div>".repeat(n)],
  ["elements that end", (n: number) => "<b>".repeat(n) + "</b>".repeat(n)],
  ["ends of nothing", (n: number) => "<div>".repeat(600) + "</b>".repeat(n)],
  ["forms", (n: number) => "<form>".repeat(n)],
  ["paragraphs", (n: number) => "<p>x".repeat(n)],
  ["pictures in svg", (n: number) => "<svg><foreignobject>".repeat(n)],
  ["attributes", (n: number) => `<a ${"x=y ".repeat(n)}>`],
  ["text", (n: number) => "&amp;<".repeat(n)],
  ["comments", (n: number) => "<!--".repeat(n)],
  ["scripts", (n: number) => "<script>".repeat(n)],
])(
  "the signals of a page with many %s",
  async (_name, html) => {
    const growth = await growthOf((n) => {
      const page = { html: html(n), headers: new Headers(), url: "https://www.example.com/" };
      return () => signalsFromHtml(page);
    }, 1 << 16);
    expect(growth).toBeLessThan(MAX_GROWTH);
  },
  60_000,
);

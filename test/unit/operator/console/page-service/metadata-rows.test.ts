import { describe, expect, it } from "vitest";
import type { Metadata } from "../../../../../src/operator/console/api/page-service.ts";
import { metadataRows } from "../../../../../src/operator/console/pages/page-service/metadata-rows.ts";

const NOTHING: Metadata = {
  url: "https://a.example/",
  title: null,
  description: null,
  author: null,
  publisher: null,
  date: null,
  image: null,
  canonical: null,
  language: null,
  openGraph: {},
  icons: [],
  feeds: [],
};

describe("the metadata of a page in rows", () => {
  it("has no rows for missing values", () => {
    expect(metadataRows(NOTHING)).toEqual([]);
  });

  it("names each value, links addresses, and distinguishes several of a kind", () => {
    const rows = metadataRows({
      ...NOTHING,
      title: "A title",
      author: "Ada Lovelace",
      canonical: "https://a.example/it",
      language: "de",
      openGraph: { type: "article", image: "https://a.example/i.png" },
      icons: [
        { url: "https://a.example/16.png", rel: "icon", type: "image/png", sizes: "16x16" },
        { url: "https://a.example/favicon.ico", rel: "icon", type: null, sizes: null },
      ],
      feeds: [{ url: "https://a.example/feed", type: "application/rss+xml", title: "News" }],
    });
    expect(rows).toEqual([
      { what: "Title", value: "A title", address: false, note: "" },
      { what: "Author", value: "Ada Lovelace", address: false, note: "" },
      { what: "Canonical address", value: "https://a.example/it", address: true, note: "" },
      { what: "Language", value: "de", address: false, note: "" },
      { what: "og:type", value: "article", address: false, note: "" },
      { what: "og:image", value: "https://a.example/i.png", address: false, note: "" },
      { what: "icon", value: "https://a.example/16.png", address: true, note: "16x16, image/png" },
      { what: "icon", value: "https://a.example/favicon.ico", address: true, note: "" },
      { what: "Feed", value: "https://a.example/feed", address: true, note: "News, application/rss+xml" },
    ]);
  });

  it("does not link a javascript: address", () => {
    const [row] = metadataRows({ ...NOTHING, canonical: "javascript:alert(1)" });
    expect(row).toMatchObject({ what: "Canonical address", address: false });
  });
});

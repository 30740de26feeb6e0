import type { Metadata } from "../../api/page-service.ts";
import { texts } from "./texts.ts";

/** One item of a page's metadata. */
export interface MetadataRow {
  readonly what: string;
  readonly value: string;
  /** `value` is a URL that can be opened. */
  readonly address: boolean;
  /** Distinguishes several items of the same kind. */
  readonly note: string;
}

/** Lists a page's metadata, the most requested items first. Omits items that the page does not have. */
export function metadataRows(metadata: Metadata): MetadataRow[] {
  const { title, description, author, publisher, date, image, canonical, language } = metadata;
  const { openGraph, icons, feeds } = metadata;
  const row = (
    property: string,
    value: string | null,
    note: readonly (string | null)[] = [],
  ): MetadataRow => ({
    what: property,
    value: value ?? "",
    address: false,
    note: note.filter(Boolean).join(", "),
  });
  const link = (...cells: Parameters<typeof row>): MetadataRow => ({
    ...row(...cells),
    address: /^https?:/.test(cells[1] ?? ""),
  });
  return [
    row(texts.title, title),
    row(texts.description, description),
    row(texts.author, author),
    row(texts.publisher, publisher),
    row(texts.date, date),
    link(texts.picture, image),
    link(texts.canonicalAddress, canonical),
    row(texts.language, language),
    ...Object.entries(openGraph).map(([name, value]) => row(`og:${name}`, value)),
    ...icons.map(({ url, rel, sizes, type }) => link(rel, url, [sizes, type])),
    ...feeds.map(({ url, title: name, type }) => link(texts.feed, url, [name, type])),
  ].filter(({ value }) => value !== "");
}

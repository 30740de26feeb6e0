import type { Metadata } from "../../api/page-service.ts";

/** One thing that a page says of itself. */
export interface MetadataRow {
  readonly what: string;
  readonly said: string;
  /** What is said is an address that can be followed. */
  readonly address: boolean;
  /** Which of several it is. */
  readonly note: string;
}

/** What a page says of itself, in the order in which people ask for it; what it does not say is left out. */
export function metadataRows(metadata: Metadata): MetadataRow[] {
  const { title, description, canonical, language, openGraph, icons, feeds } = metadata;
  const row = (what: string, said: string | null, note: readonly (string | null)[] = []): MetadataRow => ({
    what,
    said: said ?? "",
    address: false,
    note: note.filter(Boolean).join(", "),
  });
  const link = (...of: Parameters<typeof row>): MetadataRow => ({
    ...row(...of),
    address: /^https?:/.test(of[1] ?? ""),
  });
  return [
    row("Title", title),
    row("Description", description),
    link("Canonical address", canonical),
    row("Language", language),
    ...Object.entries(openGraph).map(([name, said]) => row(`og:${name}`, said)),
    ...icons.map(({ url, rel, sizes, type }) => link(rel, url, [sizes, type])),
    ...feeds.map(({ url, title: name, type }) => link("Feed", url, [name, type])),
  ].filter(({ said }) => said !== "");
}

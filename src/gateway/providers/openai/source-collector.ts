import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import type { ProviderEvent, SearchResult } from "../answers/provider-events.ts";
import { linkRangeIn } from "../json.ts";

/** Collects the citations and search results of an answer. */
export class SourceCollector {
  readonly #citations: ProviderEvent[] = [];
  #sources: readonly SearchResult[] = [];

  /**
   * Reads the `annotations` of a message or of a streamed piece, after `textLength` characters of text. Their offsets count
   * from `textStart`, which is negative if reasoning came before the text.
   */
  takeAnnotations(annotations: unknown, textStart: number, textLength: number): void {
    if (!Array.isArray(annotations)) return;
    for (const annotation of annotations) {
      const citation = isObject(annotation) ? toCitation(annotation, textStart, textLength) : null;
      if (citation !== null) this.#citations.push(citation);
    }
  }

  /** Reads the search results that some backends repeat beside the choices in each chunk: pages, or only their URLs. */
  takeFound({ search_results: results, citations }: JsonObject): void {
    const pages = Array.isArray(results) && results.length > 0 ? results : citations;
    if (!Array.isArray(pages)) return;
    const sources = pages.map((page: unknown): unknown => (typeof page === "string" ? { url: page } : page));
    this.#sources = sources.flatMap((page, index) => {
      const url = isObject(page) ? page["url"] : undefined;
      if (!isObject(page) || typeof url !== "string") return [];
      return [{ index: index + 1, url, title: readTitle(page) }];
    });
  }

  /** Returns everything collected. */
  events(): readonly ProviderEvent[] {
    if (this.#sources.length === 0) return this.#citations;
    return [{ type: "search", results: this.#sources }, ...this.#citations];
  }
}

function readTitle(page: JsonObject): string {
  const { title, url } = page;
  return typeof title === "string" && title !== "" ? title : String(url);
}

/**
 * Reads a URL citation. Its members are nested in `url_citation` or at the top level. A citation without offsets is placed
 * at `end`.
 */
function toCitation(annotation: JsonObject, textStart: number, end: number): ProviderEvent | null {
  if (annotation["type"] !== "url_citation") return null;
  const { url_citation: nested } = annotation;
  const citation = isObject(nested) ? nested : annotation;
  const { url } = citation;
  if (typeof url !== "string") return null;
  return { type: "citation", url, title: readTitle(citation), ...linkRangeIn(citation, textStart, end) };
}

/** A page of the API reference. */
export interface ReferencePage {
  /** The file's name, without `.md`. */
  readonly name: string;
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

/** One page for each tag of an OpenAPI document, in its order. */
export function referencePages(document: Readonly<Record<string, unknown>>): ReferencePage[];

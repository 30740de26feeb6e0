/** A request to the provider as plain data, so that it can cross a process border. */
export interface Call {
  readonly method: string;
  /** The path split at slashes and decoded, without empty parts: `["api", "sessions"]`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly token: string | null;
  /** The JSON text of the body; null when there is none. */
  readonly body: string | null;
  readonly upload: Upload | null;
}

/** A multipart upload; `excerpt` is the start of the file's text, empty when it is not text. */
export interface Upload {
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  readonly excerpt: string;
}

/** The value of a JSON text; undefined when there is none or it is no JSON. */
export function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The recommended form of the markup (docs/contract.md, tool rule 1), which the model is shown. */

/** Encodes a text as CDATA. A `]]>` in it is split over two sections, so that no text can end the CDATA early. */
export function encodeCdata(text: string): string {
  return `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
}

/** Escapes a text for an attribute in double quotes. */
export function escapeAttribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\r\n\t]+/g, " ");
}

/** @param source JSON text. Numbers keep their digits; a string is shown as CDATA. */
function renderParameter(name: string, source: string): string {
  const value: unknown = source.startsWith('"') ? JSON.parse(source) : undefined;
  const text = typeof value === "string" ? value : source;
  const body = typeof value === "string" || /[<&]/.test(text) ? encodeCdata(text) : text;
  return `<|TCML|parameter name="${escapeAttribute(name)}">${body}</|TCML|parameter>`;
}

/** One invoke. Every member of `values` (JSON texts) becomes a parameter. */
export function renderInvoke(name: string, values: ReadonlyMap<string, string>, id?: string): string {
  const idAttribute = id === undefined ? "" : ` id="${escapeAttribute(id)}"`;
  const lines = [...values].map(([key, source]) => renderParameter(key, source));
  return [`<|TCML|invoke name="${escapeAttribute(name)}"${idAttribute}>`, ...lines, "</|TCML|invoke>"].join(
    "\n",
  );
}

/** The wrapper around invokes. */
export function renderWrapper(invokes: readonly string[]): string {
  return ["<|TCML|tool_calls>", ...invokes, "</|TCML|tool_calls>"].join("\n");
}

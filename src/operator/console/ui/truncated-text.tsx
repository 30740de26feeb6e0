import type { ComponentChildren } from "preact";

/** Maximum number of displayed characters. */
const MAX_CHARS = 300;

/** The ends of the parts of a name or an address, where a line may end: `one@` `sandbox.` `test`. */
const PART_ENDS = /(?<=[@/._:=-])(?<!:\/\/)(?=\p{L})/u;

/** Those in JSON, outside of names such as `cache_read`, and before each name and value: `{"input":` `0.5,` `"output":` `1.25}`. */
const JSON_PART_ENDS = /(?<=[@/.=-])(?<!:\/\/)(?=\p{L})|(?<=[{[,:])(?=[\x22{[\p{L}\d-])/u;

/** A part that would be wider than most columns: it may be broken anywhere. */
const LONG_PART = /\S{24}/;

/** Lets lines end between the parts of names, addresses and JSON, not within them. */
function renderParts(text: string): ComponentChildren {
  return text.split(/^[{[]/.test(text) ? JSON_PART_ENDS : PART_ENDS).flatMap((part, index) => [
    index > 0 && <wbr key={`${index} end`} />,
    LONG_PART.test(part) ? (
      <span key={`${index}`} class="breakable">
        {part}
      </span>
    ) : (
      part
    ),
  ]);
}

/** A truncated name of foreign origin. `<bdi>` isolates its text direction. */
export function TruncatedText({ text }: { readonly text: string }) {
  return (
    <bdi class="clipped">{renderParts(text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text)}</bdi>
  );
}

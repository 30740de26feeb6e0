import type { ComponentChildren } from "preact";

/** Maximum number of displayed characters. */
const MAX_CHARS = 300;

/** The ends of the parts of a name or an address, where a line may end: `one@` `sandbox.` `test`. */
const PART_ENDS = /(?<=[@/._:=-])(?<!:\/\/)(?=\p{L})/u;

/** A part that would be wider than most columns: it may be broken anywhere. */
const LONG_PART = /\S{24}/;

/** Lets lines end between the parts of names and addresses, not within them. */
function renderParts(text: string): ComponentChildren {
  return text.split(PART_ENDS).flatMap((part, index) => [
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

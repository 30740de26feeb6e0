import { readCdata } from "./cdata.ts";
import { skipSpace, UNIT_FLAGS } from "./characters.ts";
import { MAX_CALL_TAG_LENGTH } from "./grammar.ts";
import { endsInClosingTag, isOwnShell, readTag, type Tag } from "./tags.ts";
import { OPENER_FLAG } from "./units.ts";

/** How many units after a mark are searched for the next tag or CDATA. */
const LOOK_AHEAD = 256;

/** The enclosing tags of a body. They decide what in it is markup. */
export class EnclosingTags {
  readonly #shells: readonly string[];

  /** @param shells Shells of the enclosing tags. Closing tags with such shells end the body. */
  constructor(shells: readonly string[]) {
    this.#shells = shells;
  }

  /** Whether a tag's shell is that of an enclosing tag or one of the markup's own. */
  hasKnownShell(tag: Tag): boolean {
    return this.#shells.includes(tag.shell) || isOwnShell(tag.shell);
  }

  /** Whether the text ends within an incomplete closing tag at `at`, see `endsInClosingTag`. */
  endsInClosingTag(source: string, at: number, minLength: number): boolean {
    return endsInClosingTag(source, at, this.#shells, minLength);
  }

  /** Whether, after white space, the text ends or a tag with a known shell follows that `isMatch` accepts. */
  isFollowedBy(
    source: string,
    at: number,
    final: boolean,
    isMatch: (tag: Tag) => boolean,
  ): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? true : "partial";
    if (UNIT_FLAGS[source.charCodeAt(next)] !== OPENER_FLAG) return false;
    const tag = readTag(source, next, MAX_CALL_TAG_LENGTH, final);
    if (tag === "partial") return tag;
    if (tag === "none") return final && this.endsInClosingTag(source, next, 1);
    return this.hasKnownShell(tag) && isMatch(tag);
  }

  /** Whether CDATA follows, for example because a text with `]]>` was split into two sections. */
  isFollowedByCdata(source: string, at: number, final: boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? false : "partial";
    const cdata = readCdata(source, next, final, true);
    return cdata === "partial" ? cdata : cdata !== "none";
  }
}

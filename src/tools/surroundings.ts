import { readCdata } from "./cdata.ts";
import { OPENER, skipSpace, UNITS } from "./characters.ts";
import { TAG_LIMIT } from "./grammar.ts";
import { endsInClosingTag, isOwnShell, readTag, type Tag } from "./tags.ts";

/** How many units after a mark are searched for the next tag or CDATA. */
const LOOK_AHEAD = 256;

/** The enclosing tags of a body. They decide what in it is markup. */
export class Surroundings {
  readonly #shells: readonly string[];

  /** @param shells Shells of the enclosing tags. Closing tags with such shells end the body. */
  constructor(shells: readonly string[]) {
    this.#shells = shells;
  }

  /** Whether a tag's shell is that of an enclosing tag or one of the markup's own. */
  owns(tag: Tag): boolean {
    return this.#shells.includes(tag.shell) || isOwnShell(tag.shell);
  }

  /** Whether the text ends within an incomplete closing tag at `at`, see `endsInClosingTag`. */
  endsInClosingTag(source: string, at: number, least: number): boolean {
    return endsInClosingTag(source, at, this.#shells, least);
  }

  /** Whether, after white space, the text ends or a tag with a known shell follows that `suits` accepts. */
  followedBy(source: string, at: number, final: boolean, suits: (tag: Tag) => boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? true : "partial";
    if (UNITS[source.charCodeAt(next)] !== OPENER) return false;
    const tag = readTag(source, next, TAG_LIMIT, final);
    if (tag === "partial") return tag;
    if (tag === "none") return final && this.endsInClosingTag(source, next, 1);
    return this.owns(tag) && suits(tag);
  }

  /** Whether CDATA follows, for example because a text with `]]>` was split into two sections. */
  cdataFollows(source: string, at: number, final: boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? false : "partial";
    const cdata = readCdata(source, next, final, true);
    return cdata === "partial" ? cdata : cdata !== "none";
  }
}

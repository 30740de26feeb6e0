import { readCdata } from "./cdata.ts";
import { OPENER, skipSpace, UNITS } from "./characters.ts";
import { TAG_LIMIT } from "./grammar.ts";
import { endsInClosingTag, isOwnShell, readTag, type Tag } from "./tags.ts";

/** How far to look behind a mark for what follows it. */
const LOOK_AHEAD = 256;

/** The tags around a body, which tell what in it is markup. */
export class Surroundings {
  readonly #shells: readonly string[];

  /** @param shells Shells of the tags around the body, whose closing tags count within it. */
  constructor(shells: readonly string[]) {
    this.#shells = shells;
  }

  /** Whether a tag is written like those around the body. */
  owns(tag: Tag): boolean {
    return this.#shells.includes(tag.shell) || isOwnShell(tag.shell);
  }

  /** Whether the text is over within a closing tag that begins at `at`, see `endsInClosingTag`. */
  endsInClosingTag(source: string, at: number, least: number): boolean {
    return endsInClosingTag(source, at, this.#shells, least);
  }

  /** Whether, after white space, the text ends or a tag follows that is one of ours and suits. */
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

  /** Whether CDATA follows, as when a text that holds `]]>` was split in two. */
  cdataFollows(source: string, at: number, final: boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? false : "partial";
    const cdata = readCdata(source, next, final, true);
    return cdata === "partial" ? cdata : cdata !== "none";
  }
}

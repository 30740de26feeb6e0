import {
  hasMemberAt,
  hasMemberInText,
  parseMemberPath,
  removeMemberFromText,
  withoutMemberAt,
} from "../../../core/encoding/member-path.ts";

/** The members that a provider never gets (`drop_params`). */
export class DropParams {
  readonly #paths: readonly (readonly string[])[];

  /** @param names members of the body, written with dots if they stand deeper */
  constructor(names: readonly string[]) {
    this.#paths = names.map(parseMemberPath);
  }

  /** A copy of a body without the members. Notes the names of those that it had in `dropped`. */
  removeFrom<Body extends object>(body: Body, dropped: string[] = []): Body {
    return this.#paths.reduce((rest, path) => {
      if (!hasMemberAt(rest, path)) return rest;
      dropped.push(path.join("."));
      return withoutMemberAt(rest, path);
    }, body);
  }

  /** The same for a JSON text. */
  removeFromText(text: string, dropped: string[] = []): string {
    return this.#paths.reduce((rest, path) => {
      if (!hasMemberInText(rest, path)) return rest;
      dropped.push(path.join("."));
      return removeMemberFromText(rest, path);
    }, text);
  }
}

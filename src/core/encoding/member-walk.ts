import { parseName, skipSpace, skipString, skipValue } from "./json-splice.ts";

/** A member of an object anywhere in a text. */
export interface VisitedMember {
  readonly name: string;
  /** 0: a member of the outermost object. */
  readonly depth: number;
  /** Where the value begins. */
  readonly valueStart: number;
}

/** Go into the value, pass over it, or end the walk. */
export type MemberDecision = "enter" | "skip" | "stop";

/**
 * Visits the members of all objects in a text once, also those that are stated twice, in the order of the text. `text`
 * must be valid JSON.
 *
 * @returns whether a visit has ended the walk
 */
export function walkMembers(text: string, visit: (member: VisitedMember) => MemberDecision): boolean {
  /** Whether each open container is an object. */
  const containers: boolean[] = [];
  let expectsName = false;
  let index = 0;
  while (index < text.length) {
    const unit = text[index];
    if (unit === '"') {
      const end = skipString(text, index);
      if (!expectsName) {
        index = end;
        continue;
      }
      expectsName = false;
      const valueStart = skipSpace(text, skipSpace(text, end) + 1);
      const name = parseName(text, index, end);
      const decision = visit({ name, depth: containers.length - 1, valueStart });
      if (decision === "stop") return true;
      index = decision === "skip" ? skipValue(text, valueStart) : valueStart;
      continue;
    }
    if (unit === "{" || unit === "[") containers.push(unit === "{");
    else if (unit === "}" || unit === "]") containers.pop();
    if (unit === "{" || unit === ",") expectsName = containers.at(-1) === true;
    index += 1;
  }
  return false;
}

import { sha256Hex } from "../../core/encoding/hash.ts";
import type { TextChecker } from "./text-checker.ts";

/** Nine letters and digits: some providers take no other ids. */
const ID_LENGTH = 9;

/**
 * Checks the name of a call in an answer, and returns its id: an id that matches is replaced by its digest, which is
 * the same wherever the call is named.
 *
 * @throws GatewayError if a rule denies the name, or would mask it
 */
export async function checkCall(
  { id, name }: { readonly id: string; readonly name: string },
  checker: TextChecker,
): Promise<string> {
  await checker.rejectMatches(name);
  return (await checker.matchesId(id)) ? (await sha256Hex(id)).slice(0, ID_LENGTH) : id;
}

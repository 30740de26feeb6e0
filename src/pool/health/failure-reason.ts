import { withUpstreamWords } from "../../core/errors/failure-message.ts";
import type { AccountFailure } from "../../core/ports/accounts.ts";

/** Longest stored reason, in UTF-16 code units. */
const MAX_LENGTH = 600;

/** Why an account failed, as it is stored for administrators: with the provider's own words. */
export const describeReason = ({ message, upstreamWords = "" }: AccountFailure): string =>
  withUpstreamWords(message, upstreamWords).slice(0, MAX_LENGTH);

import type { Config } from "../../core/config/schema.ts";
import type { SubjectEntry } from "../../core/config/schemas/subject-schema.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { OTHER_VALUES } from "../../core/ports/usage.ts";
import { type Counts, formatSeriesName } from "./counts.ts";
import { SUBJECT_REQUESTS, SUBJECT_TOKENS } from "./metric-names.ts";

/** At most this number of configured teams, users and tags each have series of their own. */
const MAX_NAMES = 200;

/** The value of a label: an id of the configuration, because callers may invent tags. */
function labelOf(entries: readonly SubjectEntry[], id: string): string {
  const index = entries.findIndex((entry) => entry.id === id);
  return index >= 0 && index < MAX_NAMES ? id : OTHER_VALUES;
}

/** Counts a request and its tokens for its team, its user and its tags. */
export function countSubjects(counts: Counts, config: Config, facts: RequestFacts): void {
  const tokens = (facts.promptTokens ?? 0) + (facts.completionTokens ?? 0);
  const { team, user, tags } = facts;
  const labels = [
    ...(team === undefined ? [] : [{ kind: "team", id: labelOf(config.teams, team) }]),
    ...(user === undefined ? [] : [{ kind: "user", id: labelOf(config.users, user) }]),
    ...(tags?.split(",") ?? []).map((tag) => ({ kind: "tag", id: labelOf(config.tags, tag) })),
  ];
  for (const label of labels) {
    counts.add(formatSeriesName(SUBJECT_REQUESTS, label));
    if (tokens > 0) counts.add(formatSeriesName(SUBJECT_TOKENS, label), tokens);
  }
}

import type { Subject } from "../../api/subjects.ts";
import type { LimitUse } from "../keys/key-list.ts";

/** What is used of each limit that a team, a user or a tag has. */
export function listSubjectUse({ limits, used }: Pick<Subject, "limits" | "used">): readonly LimitUse[] {
  const amounts = [
    ["requests_per_minute", used.requests_per_minute],
    ["tokens_per_minute", used.tokens_per_minute],
    ["max_parallel", used.parallel],
    ["tokens_per_day", used.tokens_per_day],
    ["tokens_per_month", used.tokens_per_month],
    ["cost_per_day", used.cost_per_day],
    ["cost_per_month", used.cost_per_month],
  ] as const;
  return amounts.flatMap(([name, amount]) => {
    const limit = Number(limits[name]);
    return limit > 0 ? [{ name, used: amount, limit }] : [];
  });
}

/** The entries that contain a text in their id, name or remark. */
export function searchSubjects(subjects: readonly Subject[], search: string): readonly Subject[] {
  const needle = search.trim().toLowerCase();
  return subjects.filter(({ id, name, remark }) =>
    [id, name, remark].some((text) => text.toLowerCase().includes(needle)),
  );
}

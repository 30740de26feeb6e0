import type { Subject } from "../../api/subjects.ts";

/** The entries that contain a text in their id, name or remark. */
export function searchSubjects(subjects: readonly Subject[], search: string): readonly Subject[] {
  const needle = search.trim().toLowerCase();
  return subjects.filter(({ id, name, remark }) =>
    [id, name, remark].some((text) => text.toLowerCase().includes(needle)),
  );
}

import type { Route } from "../../api/settings.ts";

/** One model of a route, as the form edits it. */
export interface TargetDraft {
  readonly model: string;
  /** Empty: none. */
  readonly weight: string;
}

const EMPTY: TargetDraft = { model: "", weight: "" };

/** The rows of the form for a route; one empty row for a new one. */
export function toTargets(route: Route): readonly TargetDraft[] {
  const targets = route.map((target) =>
    typeof target === "string"
      ? { model: target, weight: "" }
      : { model: target.model, weight: target.weight === undefined ? "" : String(target.weight) },
  );
  return targets.length === 0 ? [EMPTY] : targets;
}

/** The route of the rows. Rows without a model are left out. */
export function toRoute(targets: readonly TargetDraft[]): Route {
  return targets
    .map(({ model, weight }) => ({ model: model.trim(), weight: weight.trim() }))
    .filter(({ model }) => model !== "")
    .map(({ model, weight }) => (weight === "" ? model : { model, weight: Number(weight) }));
}

/** Moves a row to another place; the others keep their order. */
export function moveTarget(
  targets: readonly TargetDraft[],
  from: number,
  to: number,
): readonly TargetDraft[] {
  const moved = targets[from];
  if (moved === undefined || to < 0 || to >= targets.length) return targets;
  return targets.toSpliced(from, 1).toSpliced(to, 0, moved);
}

/** Adds an empty row. */
export const addTarget = (targets: readonly TargetDraft[]): readonly TargetDraft[] => [...targets, EMPTY];

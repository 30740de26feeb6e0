import { STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import type { LazyRouteGroup } from "../../core/routing/route-group.ts";

/** What the holder of a key may read about it. */
export const KEY_VIEW_GROUP: LazyRouteGroup = {
  tag: "The caller's key",
  family: STANDARD_FAMILY,
  paths: ["/v1/key"],
  load: async () => [(await import("./endpoint.ts")).readOwnKey],
};

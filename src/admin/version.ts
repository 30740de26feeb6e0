import type { Handler } from "../platform/context.ts";
import type { Platform } from "../platform/platform.ts";
import { VERSION } from "../version.ts";
import { isOlder, ReleaseLookup } from "./version-lookup.ts";

const lookups = new WeakMap<Platform, ReleaseLookup>();

/** The isolate's look-up, at the address that the variable `RELEASES_URL` names. */
function lookup(platform: Platform): ReleaseLookup {
  let found = lookups.get(platform);
  if (found === undefined) {
    const { deploymentFetch: fetch, now, settings } = platform;
    found = new ReleaseLookup({ url: settings.variables["RELEASES_URL"]?.trim() ?? "", fetch, now });
    lookups.set(platform, found);
  }
  return found;
}

/** `GET /admin/version` (contract). `check_error` says why the latest release is not known; the status stays 200. */
export const version: Handler = async (context) => {
  const { at, release, error } = await lookup(context.platform).latest();
  const latestTag = release?.tag_name ?? "";
  const latest = latestTag.replace(/^v/i, "");
  return Response.json({
    success: true,
    current_version: VERSION,
    current_tag: `v${VERSION}`,
    source: "build",
    checked_at: new Date(at).toISOString(),
    latest_tag: latestTag,
    latest_version: latest,
    release_url: release?.html_url ?? "",
    published_at: release?.published_at ?? "",
    has_update: latest !== "" && isOlder(VERSION, latest),
    ...(error === "" ? {} : { check_error: error }),
  });
};

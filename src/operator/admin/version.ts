import * as z from "zod";
import { oncePer } from "../../core/encoding/once.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { VERSION } from "../../core/version.ts";
import { successSchema } from "./answers.ts";
import { isOlder, ReleaseLookup } from "./version-lookup.ts";

/** The isolate's look-up. The variable `RELEASES_URL` sets its URL. */
const getReleaseLookup = oncePer(
  ({ deploymentFetch: fetch, now, variables }: Platform) =>
    new ReleaseLookup({ url: variables.releasesUrl ?? "", fetch, now }),
);

const versionSchema = () =>
  successSchema().extend({
    current_version: z.string(),
    current_tag: z.string(),
    source: z.literal("build"),
    checked_at: z.iso.datetime(),
    latest_tag: z.string(),
    latest_version: z.string(),
    release_url: z.string(),
    published_at: z.string(),
    has_update: z.boolean(),
    check_error: z.string().optional(),
  });

export const VERSION_ENDPOINTS = [
  /**
   * `GET /admin/version` (docs/contract/admin-configuration.md). `check_error` says why the latest release is unknown;
   * the status stays 200.
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/version",
    summary: "Build and latest release",
    answers: jsonResponse(versionSchema),
    handler: async ({ platform }) => {
      const { at, release, error } = await getReleaseLookup(platform).latest();
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
    },
  }),
] satisfies readonly Endpoint[];

import * as z from "zod/mini";
import { call } from "./client.ts";
import { flag, nullableText, text } from "./fields.ts";

const version = z.object({
  current_version: text,
  latest_version: nullableText,
  release_url: nullableText,
  has_update: flag,
});

export type Version = z.output<typeof version>;

export const readVersion = (signal?: AbortSignal) =>
  call(version, "/admin/version", signal === undefined ? {} : { signal });

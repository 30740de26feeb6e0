import * as z from "zod/mini";
import { callApi } from "./client.ts";
import { booleanField, nullableTextField, textField } from "./fields.ts";

const version = z.object({
  current_version: textField,
  latest_version: nullableTextField,
  release_url: nullableTextField,
  has_update: booleanField,
});

export type Version = z.output<typeof version>;

export const readVersion = (signal?: AbortSignal) =>
  callApi(version, "/admin/version", signal === undefined ? {} : { signal });

import { keyIdentifier } from "../../../core/config/api-keys.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import type { KeyView } from "../answers.ts";
import { maskKey } from "./key-entries.ts";

/** The masked view of an API key. */
export async function keyView(entry: ApiKey): Promise<KeyView> {
  const {
    limits = {},
    models = [],
    dialects = [],
    networks = [],
    allowed_tags = [],
    guardrails = [],
  } = entry;
  return {
    key: maskKey(entry),
    id: await keyIdentifier(entry),
    name: entry.name,
    remark: entry.remark,
    created: entry.created ?? 0,
    expires: entry.expires ?? 0,
    disabled: entry.disabled ?? false,
    hashed: entry.key === "",
    grace_until: Math.max(0, ...(entry.previous ?? []).map(({ until }) => until)),
    team: entry.team ?? "",
    user: entry.user ?? "",
    limits,
    models,
    dialects,
    networks,
    allowed_tags,
    guardrails,
    history: entry.history ?? "full",
    cache: entry.cache ?? {},
  };
}

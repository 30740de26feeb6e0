import type { ComponentChildren } from "preact";
import { rich, translate } from "../../language.ts";
import { formatPlural } from "../../ui/count.ts";

export const texts = translate("teams", {
  title: "Teams and users",
  lead: "Limits that several keys share. A key belongs to a team and to a user; requests name their tags. Each limit counts, whichever is reached first.",
  lists: { teams: "Teams", users: "Users", tags: "Tags" },
  nouns: { teams: "team", users: "user", tags: "tag" },
  leads: {
    teams: "Keys of a team share its limits. Choose the team in the form of each key.",
    users: "Keys of a user share the user's limits. Choose the user in the form of each key.",
    tags: "Requests have tags by the header X-Gateway-Tags, or by metadata.tags of their body.",
  },
  emptyTitles: { teams: "No teams yet", users: "No users yet", tags: "No tags yet" },
  search: "Search name, id or remark",
  noMatch: "Nothing matches.",
  count: (count: number) => formatPlural(count, "entry", "entries"),
  keys: "Keys",
  keyCount: (count: number) => formatPlural(count, "key"),
  keysOf: (keys: string, name: string) => `${keys} of ${name}`,
  usageOf: (name: string) => `Usage of ${name}`,
  limits: "Used of limits",
  models: (models: string) => `models: ${models}`,
  noLimits: "no limits",
  history: "History keeps",
  id: "ID",
  idHint: "Letters, digits and . _ - : @ + =. It cannot be changed.",
  nameHint: "For people to read.",
  saved: (name: string) => `${name} saved`,
  deletionWarning: (name: ComponentChildren) =>
    rich`The limits of ${name} end. What it has used stays in the usage. A team or user that has keys cannot be deleted.`,
});

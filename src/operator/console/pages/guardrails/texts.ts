import { translate } from "../../language.ts";

export const texts = translate("guardrails", {
  guardrails: "Guardrails",
  lead: "Rules that check requests and answers: regular expressions, sizes and moderation webhooks.",
  rules: "Rules as JSON",
  rulesHint:
    "A list of rules. Tokens are not shown: leave them out to keep them. Leave a masked address unchanged.",
  notJson: "The rules are not a JSON list.",
  privateHosts: "Hosts in private networks that the webhooks may use",
  privateHostsHint: "host or host:port, separated by commas.",
  allowUnchecked: "Allow endpoints whose texts are not checked, such as embeddings and images",
  saved: "Guardrails saved",
  unsaved: "a change to the guardrails",
  save: "Apply guardrails",
});

import type { Guardrail } from "../../api/guardrails.ts";
import { texts } from "./texts.ts";

/** A rule to begin with. */
interface Example {
  readonly label: string;
  readonly rule: Partial<Guardrail> & Pick<Guardrail, "id" | "type">;
}

/** An example of each kind of rule, and of each action. */
export const EXAMPLES: readonly Example[] = [
  {
    label: texts.maskCards,
    rule: {
      id: "cards",
      name: texts.cardNumbers,
      type: "expressions",
      expressions: [
        { pattern: "\\b\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}\\b", action: "mask", replacement: "[card]" },
      ],
    },
  },
  {
    label: texts.maskEmails,
    rule: {
      id: "emails",
      name: texts.emailAddresses,
      type: "expressions",
      expressions: [{ pattern: "[\\w.+-]+@[\\w-]+\\.[\\w.-]+", action: "mask", replacement: "[email]" }],
    },
  },
  {
    label: texts.denyKeys,
    rule: {
      id: "private-keys",
      name: texts.privateKeys,
      type: "expressions",
      expressions: [
        { pattern: "-----BEGIN [A-Z ]*PRIVATE KEY-----", action: "deny", replacement: "[removed]" },
      ],
    },
  },
  {
    label: texts.limitSize,
    rule: { id: "size", name: texts.longRequests, type: "size", stage: "before", max_chars: 100_000 },
  },
  {
    label: texts.askWebhook,
    rule: {
      id: "moderation",
      name: texts.moderation,
      type: "webhook",
      stage: "before",
      url: "https://api.openai.com/v1/moderations",
      model: "omni-moderation-latest",
    },
  },
];
